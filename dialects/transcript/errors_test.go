package transcript_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/transcript"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// read reads a whole transcript.
func read(input string, opts ...transcript.Option) ([]*compactordv1.Message, []transcript.Note, error) {
	r, err := transcript.Open(strings.NewReader(input), opts...)
	if err != nil {
		return nil, nil, err
	}
	messages, err := r.ReadAll()
	return messages, r.Notes(), err
}

const (
	hello = `{"role":"user","content":"hush"}` + "\n"
	head  = `{"type":"session","version":3,"id":"s"}` + "\n"
	list  = `{"type":"session","id":"s"}` + "\n" + `{"type":"label"}` + "\n"
)

func TestWhatIsWrongIsNamedByLineAndField(t *testing.T) {
	t.Parallel()
	const known = "; known are pi, claude-code, kimi, codex, swe-agent, mini-swe-agent, openhands, copilot-cli, " +
		"gemini-cli, langchain, openai_chat, anthropic, openai_responses, gemini; see `compactord help dialects`, and --format names one"
	unknown := transcript.ErrUnknownFormat.Error()
	unknownFormat := unknown + ": it does not begin with JSON" + known
	for name, c := range map[string]struct{ input, want string }{
		"empty":                      {"", "the input is empty"},
		"only white space":           {" \n\r\n\t", "the input is empty"},
		"only a byte order mark":     {"\ufeff", "the input is empty"},
		"no JSON":                    {"hush", unknownFormat},
		"a number":                   {"1\n2\n", unknownFormat},
		"other JSON":                 {`{"hush":1}`, unknown + ": its first object has 1 unknown field" + known},
		"a session without an id":    {`{"type":"session"}`, unknown + ": its first object has type" + known},
		"a body without messages":    {`{"messages":"hush"}`, unknown + ": its first object has messages" + known},
		"a long body without any":    {"{\n\"model\":\"hush\"\n}", unknown + ": its first object has 1 unknown field" + known},
		"broken first line":          {`{"role":"user","content":"hush}`, "line 1: is not valid JSON: it breaks off at its end"},
		"broken line":                {hello + "\n" + `{"role":hush}` + "\n" + hello, "line 3: is not valid JSON: it goes wrong at byte 9"},
		"half-written last line":     {hello + `{"role":"user","content":"hus`, "line 2: is not valid JSON: it breaks off at its end"},
		"half a character at end":    {hello + `{"role":"user","content":"hush` + "\xc3", "line 2: is not valid UTF-8"},
		"two values on a line":       {hello + `{"role":"user"}{"role":"user"}`, "line 2: is not valid JSON: it goes wrong at byte 16"},
		"a list among lines":         {hello + `["hush"]`, "line 2: must be an object, is an array"},
		"null among lines":           {hello + `null`, "line 2: must be an object, is null"},
		"role missing":               {hello + `{"content":"hush"}`, "line 2: role: is missing"},
		"role of a wrong type":       {hello + `{"role":{"hush":1}}`, "line 2: role: must be a string, is an object"},
		"role unknown":               {`{"role":"hush"}`, "line 1: role: unknown role; known are system, developer, user, assistant, tool and function"},
		"role written large":         {`{"role":"User"}`, "line 1: role: unknown role; known are system, developer, user, assistant, tool and function"},
		"content of a wrong type":    {`{"role":"user","content":12}`, "line 1: content: must be a string or an array, is a number"},
		"part of a wrong type":       {`{"role":"user","content":["hush"]}`, "line 1: content[0]: must be an object, is a string"},
		"part without type":          {`{"role":"user","content":[{"text":"hush"}]}`, "line 1: content[0].type: is missing"},
		"image of the system":        {`{"role":"system","content":[{"type":"image_url","image_url":{"url":"hush"}}]}`, "line 1: content[0].type: a message of this role holds only parts of type text"},
		"text missing":               {`{"role":"user","content":[{"type":"text"}]}`, "line 1: content[0].text: is missing"},
		"image missing":              {`{"role":"user","content":[{"type":"image_url"}]}`, "line 1: content[0].image_url: is missing"},
		"image not base64":           {`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,hush!"}}]}`, "line 1: content[0].image_url.url: is not valid base64"},
		"data URL without data":      {`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:hush"}}]}`, "line 1: content[0].image_url.url: is a data URL that cannot be read"},
		"data URL badly escaped":     {`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:,%zz"}}]}`, "line 1: content[0].image_url.url: is a data URL that cannot be read"},
		"address too long":           {`{"role":"user","content":[{"type":"image_url","image_url":{"url":"http://` + strings.Repeat("a", 8186) + `"}}]}`, "line 1: content[0].image_url.url: is 8193 bytes long, at most 8192 are possible"},
		"file without content":       {`{"role":"user","content":[{"type":"file","file":{"filename":"hush"}}]}`, "line 1: content[0].file: holds neither file_data nor file_id"},
		"audio without format":       {`{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"hush"}}]}`, "line 1: content[0].input_audio.format: is missing"},
		"name too long":              {`{"role":"user","name":"` + strings.Repeat("a", 257) + `"}`, "line 1: name: is 257 bytes long, at most 256 are possible"},
		"calls of a user":            {`{"role":"user","tool_calls":[]}`, "line 1: tool_calls: only a message of role assistant may have it"},
		"calls of a wrong type":      {`{"role":"assistant","tool_calls":{}}`, "line 1: tool_calls: must be an array, is an object"},
		"call without function":      {`{"role":"assistant","tool_calls":[{"id":"c"}]}`, "line 1: tool_calls[0].function: is missing"},
		"call without name":          {`{"role":"assistant","tool_calls":[{"function":{"name":"a"}},{"function":{}}]}`, "line 1: tool_calls[1].function.name: is missing"},
		"call with empty name":       {`{"role":"assistant","tool_calls":[{"function":{"name":""}}]}`, "line 1: tool_calls[0].function.name: is empty"},
		"arguments of a wrong type":  {`{"role":"assistant","tool_calls":[{"function":{"name":"a","arguments":1}}]}`, "line 1: tool_calls[0].function.arguments: must be a string or an object, is a number"},
		"id of a wrong type":         {`{"role":"tool","tool_call_id":7}`, "line 1: tool_call_id: must be a string, is a number"},
		"is_error of a wrong type":   {`{"role":"tool","is_error":"hush"}`, "line 1: is_error: must be a boolean, is a string"},
		"usage of a wrong type":      {`{"role":"assistant","usage":3}`, "line 1: usage: must be an object, is a number"},
		"negative usage":             {`{"role":"assistant","usage":{"output_tokens":-1}}`, "line 1: usage.output_tokens: must be a whole number from 0 to 4294967295"},
		"more cached than all":       {`{"role":"assistant","usage":{"prompt_tokens":1,"prompt_tokens_details":{"cached_tokens":2}}}`, "line 1: usage.prompt_tokens_details.cached_tokens: is more than the whole prompt"},
		"document breaks off":        {"[\n" + `{"role":"user"}`, "line 2: the document breaks off here"},
		"element breaks off":         {"[\n\n" + `{"role":"user","content":"hush`, "line 3: is not valid JSON: it breaks off at its end"},
		"element is broken":          {"[" + hello + "," + `{"role":hush}]`, "line 2: is not valid JSON"},
		"element is no object":       {`["hush"]`, "line 1: must be an object, is a string"},
		"commas are missing":         {"[" + hello + hello + "]", "line 2: is not what JSON has in this place"},
		"a comma too many":           {"[" + hello + ",]", "line 2: is not valid JSON"},
		"something behind":           {"[]\n" + hello, "line 2: something follows the end of the document; only one document is read"},
		"two bodies":                 {`{"messages":[]}` + "\n" + `{"messages":[]}`, "line 2: something follows the end of the document; only one document is read"},
		"messages twice":             {`{"messages":[],"messages":[]}`, "line 1: messages: is there twice"},
		"element not UTF-8":          {"[\n\"\xff\"]", "line 2: is not valid UTF-8"},
		"Pi: broken entry":           {head + "{", "line 2: is not valid JSON: it breaks off at its end"},
		"Pi: version of wrong type":  {`{"type":"session","id":"s","version":"hush"}`, "line 1: version: must be a number, is a string"},
		"Pi: unknown entry":          {head + `{"type":"hush","id":"a"}`, "line 2: type: unknown type of entry"},
		"Pi: entry without type":     {list + `{"hush":1}`, "line 3: type: is missing"},
		"Pi: entry without id":       {head + `{"type":"label"}`, "line 2: id: is missing"},
		"Pi: message missing":        {list + `{"type":"message"}`, "line 3: message: is missing"},
		"Pi: message of wrong type":  {list + `{"type":"message","message":"hush"}`, "line 3: message: must be an object, is a string"},
		"Pi: unknown role":           {list + `{"type":"message","message":{"role":"hush"}}`, "line 3: message.role: unknown role of a message"},
		"Pi: unknown content":        {list + `{"type":"message","message":{"role":"user","content":[{"type":"hush"}]}}`, "line 3: message.content[0].type: unknown kind of content, or one that this role may not hold"},
		"Pi: thinking of a user":     {list + `{"type":"message","message":{"role":"user","content":[{"type":"thinking","thinking":"hush"}]}}`, "line 3: message.content[0].type: unknown kind of content, or one that this role may not hold"},
		"Pi: content of wrong type":  {list + `{"type":"message","message":{"role":"user","content":1}}`, "line 3: message.content: must be a string or an array, is a number"},
		"Pi: unknown stop reason":    {list + `{"type":"message","message":{"role":"assistant","stopReason":"hush"}}`, "line 3: message.stopReason: unknown reason; known are stop, toolUse, length, aborted and error"},
		"Pi: call without name":      {list + `{"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","name":""}]}}`, "line 3: message.content[0].name: is empty"},
		"Pi: image without type":     {list + `{"type":"message","message":{"role":"user","content":[{"type":"image","data":"aaaa"}]}}`, "line 3: message.content[0].mimeType: is missing"},
		"Pi: image not base64":       {list + `{"type":"message","message":{"role":"user","content":[{"type":"image","data":"hush!","mimeType":"image/png"}]}}`, "line 3: message.content[0].data: is not valid base64"},
		"Pi: time that is none":      {list + `{"type":"message","timestamp":"hush","message":{"role":"user"}}`, "line 3: timestamp: is not a point in time"},
		"Pi: time of a message":      {list + `{"type":"message","message":{"role":"user","timestamp":1e300}}`, "line 3: message.timestamp: is not a point in time"},
		"Pi: shell without command":  {list + `{"type":"message","message":{"role":"bashExecution"}}`, "line 3: message.command: is missing"},
		"Pi: exit code that is none": {list + `{"type":"message","message":{"role":"bashExecution","command":"hush","exitCode":"hush"}}`, "line 3: message.exitCode: must be a number, is a string"},
		"Pi: parents in a circle":    {head + `{"type":"label","id":"a","parentId":"b"}` + "\n" + `{"type":"label","id":"b","parentId":"a"}`, "line 3: parentId: is its own ancestor"},
		"Pi: parent of wrong type":   {head + `{"type":"label","id":"a","parentId":7}`, "line 2: parentId: must be a string, is a number"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := read(c.input, transcript.Strict())
			require.EqualError(t, err, c.want)
			require.NotContains(t, err.Error(), "hush", "an error quotes the conversation")
		})
	}
}

func TestLineErrorTellsItsCause(t *testing.T) {
	t.Parallel()
	_, _, err := read(hello+`{"role":"user","content":3}`, transcript.Strict())
	var line *transcript.LineError
	require.ErrorAs(t, err, &line)
	require.Equal(t, 2, line.Line)
	require.Equal(t, "content", line.Field)
	require.Equal(t, line.Err, errors.Unwrap(err))
}

func TestErrorsStay(t *testing.T) {
	t.Parallel()
	r, err := transcript.Open(strings.NewReader(hello+"{\n"+hello), transcript.Strict())
	require.NoError(t, err)
	_, err = r.Next()
	require.NoError(t, err)
	_, first := r.Next()
	require.Error(t, first)
	_, again := r.Next()
	require.Equal(t, first, again)
}

func TestFailureToReadIsPassedOn(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk is gone")
	_, err := transcript.Open(iotest.ErrReader(broken))
	require.ErrorIs(t, err, broken)
	for _, start := range []string{hello, "[" + hello, "{\"messages\":[", list} {
		r, err := transcript.Open(io.MultiReader(strings.NewReader(start), iotest.ErrReader(broken)))
		if err == nil {
			_, err = r.ReadAll()
		}
		require.ErrorIs(t, err, broken, start)
	}
}
