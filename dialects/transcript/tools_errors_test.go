package transcript_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/transcript"
)

const (
	sweHistory  = `{"history":[{"role":"system","agent":"main","content":""},` + "\n"
	miniList    = `{"trajectory_format":"mini-swe-agent-1.1","messages":[` + "\n"
	openHands   = `{"metadata":{"agent_class":"a"},"history":[`
	geminiChat  = `{"sessionId":"s","projectHash":"p","messages":[` + "\n"
	geminiLine  = `{"sessionId":"s","projectHash":"p"}` + "\n"
	codexHeader = `{"type":"session_meta","payload":{"id":"s"}}` + "\n"
	codexItem   = codexHeader + `{"type":"response_item","payload":`
	langChain   = `[{"type":"human","data":{"content":""}},` + "\n"
)

func TestWhatIsWrongInFilesOfToolsIsNamedByLineAndField(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ input, want string }{
		"swe-agent: no history":         {`{"trajectory":[{"action":"hush","observation":""}]}`, "line 1: history: is missing"},
		"swe-agent: history no list":    {`{"trajectory":[{"action":"hush","observation":""}],"history":"hush"}`, "line 1: is not what JSON has in this place"},
		"swe-agent: two histories":      {sweHistory + `{"role":"user","content":"hush"}],"history":[{"role":"user","agent":"main"}]}`, "line 2: history: is there twice"},
		"swe-agent: cut off":            {sweHistory + `{"role":"user","content":"hush"}`, "line 2: the document breaks off here"},
		"swe-agent: cut off behind":     {sweHistory + `{"role":"user","content":"hush"}],"info":{`, "line 2: is not valid JSON: it breaks off at its end"},
		"swe-agent: more behind":        {sweHistory + `{"role":"user","content":"hush"}]} hush`, "line 2: something follows the end of the document; only one document is read"},
		"swe-agent: unknown role":       {sweHistory + `{"role":"hush"}]}`, "line 2: role: unknown role; known are system, developer, user, assistant, tool and function"},
		"swe-agent: agent no text":      {sweHistory + `{"role":"user","agent":["hush"]}]}`, "line 2: agent: must be a string, is an array"},
		"swe-agent: two ids":            {sweHistory + `{"role":"tool","content":"","tool_call_ids":["hush","hush2"]}]}`, "line 2: tool_call_ids: holds more than one id; a result answers one call"},
		"swe-agent: id no text":         {sweHistory + `{"role":"tool","content":"","tool_call_ids":[{"hush":1}]}]}`, "line 2: tool_call_ids: must be a string, is an object"},
		"swe-agent: thinking of a user": {sweHistory + `{"role":"user","content":"","thinking_blocks":[{"type":"thinking"}]}]}`, "line 2: thinking_blocks: only a message of role assistant may have it"},
		"swe-agent: unknown thinking":   {sweHistory + `{"role":"assistant","content":"","thinking_blocks":[{"type":"hush"}]}]}`, "line 2: thinking_blocks[0].type: unknown kind of block; known are thinking and redacted_thinking"},

		"mini-swe-agent: no messages":    {`{"trajectory_format":"mini-swe-agent-1.1"}`, "line 1: messages: is missing"},
		"mini-swe-agent: bad time":       {miniList + `{"role":"user","content":"","extra":{"timestamp":1e300}}]}`, "line 2: extra.timestamp: is not a point in time"},
		"mini-swe-agent: bad usage":      {miniList + `{"role":"assistant","content":"","extra":{"response":{"usage":{"prompt_tokens":"hush"}}}}]}`, "line 2: extra.response.usage.prompt_tokens: must be a number, is a string"},
		"mini-swe-agent: response items": {miniList + `{"object":"response","output":[]}]}`, "line 2: role: is missing"},

		"langchain: unknown class":   {langChain + `{"lc":1,"type":"constructor","id":["langchain","HushMessage"],"kwargs":{"content":"hush"}}]`, "line 2: kwargs.type: unknown type of message; known are human, ai, system, developer and tool"},
		"langchain: unknown type":    {langChain + `{"type":"hush","data":{}}]`, "line 2: data.type: unknown type of message; known are human, ai, system, developer and tool"},
		"langchain: unknown content": {langChain + `{"type":"human","data":{"content":[{"type":"hush"}]}}]`, "line 2: data.content[0].type: unknown kind of content, or one that this type of message may not hold"},
		"langchain: nameless call":   {langChain + `{"type":"ai","data":{"content":"","tool_calls":[{"id":"1","args":{}}]}}]`, "line 2: data.tool_calls[0].name: is missing"},
		"langchain: too much cached": {langChain + `{"type":"ai","data":{"usage_metadata":{"input_tokens":1,"input_token_details":{"cache_read":2}}}}]`, "line 2: data.usage_metadata: is more than the whole prompt"},

		"openhands: unknown event":     {openHands + `{"id":1},{"kind":"hush"}]}`, "line 1: history[0]: is neither an action nor an observation of OpenHands"},
		"openhands: history no list":   {`{"metadata":{"agent_class":"a"},"history":"hush"}`, "line 1: history: must be an array, is a string"},
		"openhands: no response":       {openHands + `{"id":1,"source":"agent","action":"run","args":{},"tool_call_metadata":{}}]}`, "line 1: history[0].tool_call_metadata.model_response.choices: is missing"},
		"openhands: no answer":         {openHands + `{"source":"agent","action":"run","args":{},"tool_call_metadata":{"model_response":{"choices":[{"message":{"role":"user"}}]}}}]}`, "line 1: history[0].tool_call_metadata.model_response.choices[0].message.role: a response holds a message of role assistant"},
		"openhands: content no text":   {openHands + `{"source":"user","action":"message","args":{"content":{"hush":1}}}]}`, "line 1: history[0].args.content: must be a string, is an object"},
		"openhands: result no text":    {openHands + `{"observation":"run","content":["hush"]}]}`, "line 1: history[0].content: must be a string, is an array"},
		"openhands: bad time":          {openHands + `{"source":"user","action":"message","args":{},"timestamp":"hush"}]}`, "line 1: history[0].timestamp: is not a point in time"},
		"openhands: bad id":            {openHands + `{"id":-1,"source":"user","action":"message","args":{}}]}`, "line 1: history[0].id: must be a whole number from 0 to 4294967295"},
		"openhands: bad condensation":  {openHands + `{"action":"condensation","args":{"summary":"s","forgotten_event_ids":["hush"]}}]}`, "line 1: history[0].args.forgotten_event_ids[0].id: must be a number, is a string"},
		"openhands: second of several": {openHands + `]}` + "\n" + openHands + `]}`, "the input holds 2 sessions, and only one can be read: select one, from 1 to 2"},
		"openhands: bad image":         {openHands + `{"source":"user","action":"message","args":{"image_urls":["data:hush"]}}]}`, "line 1: history[0].args.image_urls[0]: is a data URL that cannot be read"},

		"gemini-cli: unknown record":    {geminiChat + `{"id":"1","type":"hush"}]}`, "line 2: type: unknown type of record; known are user, gemini, info, warning and error"},
		"gemini-cli: content no parts":  {geminiChat + `{"id":"1","type":"user","content":[12]}]}`, "line 2: content[0]: must be an object, is a number"},
		"gemini-cli: nameless call":     {geminiChat + `{"id":"1","type":"gemini","toolCalls":[{"id":"1","args":{}}]}]}`, "line 2: parts[0].functionCall.name: is missing"},
		"gemini-cli: too much cached":   {geminiChat + `{"id":"1","type":"gemini","content":"hush","tokens":{"input":1,"cached":2}}]}`, "line 2: tokens.cached: is more than the whole prompt"},
		"gemini-cli: bad thought":       {geminiChat + `{"id":"1","type":"gemini","thoughts":[{"subject":["hush"]}]}]}`, "line 2: thoughts[0].subject: must be a string, is an array"},
		"gemini-cli: line of lines":     {geminiLine + `{"id":"1","type":"user","content":"ok"}` + "\n" + `{"id":"2","type":"hush"}`, "line 3: type: unknown type of record; known are user, gemini, info, warning and error"},
		"gemini-cli: rewind to nothing": {geminiLine + `{"$rewindTo":["hush"]}`, "line 2: $rewindTo: must be a string, is an array"},
		"gemini-cli: bad replacement":   {geminiLine + `{"$set":{"messages":["hush"]}}`, "line 2: $set.messages[0]: must be an object, is a string"},

		"codex: item without type":    {codexItem + `{"role":"user","content":"hush"}}`, "line 2: payload.type: is missing"},
		"codex: unknown role":         {codexItem + `{"type":"message","role":"hush","content":[]}}`, "line 2: payload.role: must be user, assistant, system or developer"},
		"codex: payload no object":    {codexHeader + `{"type":"response_item","payload":"hush"}`, "line 2: payload: must be an object, is a string"},
		"codex: bad token count":      {codexHeader + `{"type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"input_tokens":-1}}}}`, "line 2: payload.info.last_token_usage.input_tokens: must be a whole number from 0 to 4294967295"},
		"codex: too much cached":      {codexHeader + `{"type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"input_tokens":1,"cached_input_tokens":2}}}}`, "line 2: payload.info.last_token_usage: is more than the whole prompt"},
		"codex: bad model":            {codexHeader + `{"type":"turn_context","payload":{"model":12}}`, "line 2: payload.model: must be a string, is a number"},
		"codex: instructions no text": {`{"type":"session_meta","payload":{"base_instructions":{"text":["hush"]}}}`, "line 1: payload.base_instructions.text: must be a string, is an array"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := read(c.input, transcript.Strict())
			require.EqualError(t, err, c.want)
			require.NotContains(t, strings.ReplaceAll(err.Error(), "hush: ", ""), "hush")
		})
	}
}

// A file that is cut off anywhere is an error or has fewer messages, and never has another format.
func TestFilesOfToolsThatAreCutOff(t *testing.T) {
	t.Parallel()
	for _, c := range toolFiles {
		text, err := os.ReadFile(filepath.Join("testdata", c.name))
		require.NoError(t, err)
		for end := 1; end < len(text); end += 61 {
			r, err := transcript.Open(strings.NewReader(string(text[:end])), transcript.Select(max(c.session, 1)))
			if err != nil {
				requireKnownError(t, err)
				continue
			}
			for err == nil {
				_, err = r.Next()
			}
			if !errors.Is(err, io.EOF) {
				requireKnownError(t, err)
			}
		}
	}
}

func requireKnownError(t *testing.T, err error) {
	t.Helper()
	var line *transcript.LineError
	var sessions *transcript.SessionsError
	known := errors.As(err, &line) || errors.As(err, &sessions) || errors.Is(err, transcript.ErrUnknownFormat)
	require.True(t, known, "%v", err)
}
