package transcript_test

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/transcript"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func TestFilesOfToolsAreRecognizedByContent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		want  transcript.Format
		input string
	}{
		"swe-agent by its history":        {transcript.SWEAgent, `{"history":[{"role":"user","message_type":"observation","content":"a"}]}`},
		"swe-agent by its steps":          {transcript.SWEAgent, `{"trajectory":[{"action":"ls","observation":"a"}],"history":[]}`},
		"mini-swe-agent by its name":      {transcript.MiniSWEAgent, `{"trajectory_format":"mini-swe-agent-1","messages":[]}`},
		"mini-swe-agent by its run":       {transcript.MiniSWEAgent, `{"info":{"model_stats":{}},"messages":[{"role":"user","content":"a"}]}`},
		"openhands by events":             {transcript.OpenHands, `[{"id":0,"source":"user","action":"message","args":{"content":"a"}}]`},
		"openhands by pairs":              {transcript.OpenHands, `{"history":[[{"action":"message","args":{"content":"a"}},{"observation":"null"}]]}`},
		"openhands by its run":            {transcript.OpenHands, `{"instance_id":"a","metadata":{"agent_class":"CodeActAgent"},"history":null}`},
		"openhands over several lines":    {transcript.OpenHands, "{\n\"history\": [\n{\"source\":\"user\",\"action\":\"message\",\"args\":{\"content\":\"a\"}}\n]\n}\n"},
		"openhands with a long line":      {transcript.OpenHands, `{"history":[{"source":"user","action":"message","args":{"content":"` + strings.Repeat("a", 3<<20) + `"}}]}` + "\n"},
		"gemini-cli by its checkpoint":    {transcript.GeminiCLI, `{"history":[{"role":"user","parts":[{"text":"a"}]}],"authType":"oauth"}`},
		"gemini-cli by an old checkpoint": {transcript.GeminiCLI, `[{"role":"user","parts":[{"text":"This is the Gemini CLI. Set up."}]}]`},
		"gemini-cli without a hash":       {transcript.GeminiCLI, `{"sessionId":"s","startTime":"t","lastUpdated":"t","messages":[]}`},
		"langchain by dicts":              {transcript.LangChain, `[{"type":"human","data":{"content":"a"}}]`},
		"langchain by lines":              {transcript.LangChain, `{"type":"human","data":{"content":"a"}}` + "\n" + `{"type":"ai","data":{"content":"b"}}`},
		"langchain by a field":            {transcript.LangChain, `{"messages":[{"lc":1,"kwargs":{"type":"human","content":"a"}}]}`},
		"langchain by fields":             {transcript.LangChain, `[{"type":"human","content":"a","additional_kwargs":{}}]`},
		"codex by a later line":           {transcript.Codex, `{"type":"turn_context","payload":{"model":"a"}}`},
		"codex by an old header":          {transcript.Codex, `{"id":"s","timestamp":"2025-07-01T10:00:00Z","instructions":null}`},
		"messages beside info":            {transcript.OpenAIChat, `{"info":{"a":1},"messages":[{"role":"user","content":"a"}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := transcript.Open(strings.NewReader(c.input))
			require.NoError(t, err)
			require.Equal(t, c.want, r.Format())
			require.NotEqual(t, "unknown format", r.Format().String())
			_, err = r.ReadAll()
			require.NoError(t, err)
		})
	}
}

// readWith returns the records, too.
func readWith(t *testing.T, input string) ([]*compactordv1.Message, []*compactordv1.ImportedRecord, []transcript.Note) {
	t.Helper()
	r, err := transcript.Open(strings.NewReader(input))
	require.NoError(t, err)
	messages, err := r.ReadAll()
	require.NoError(t, err)
	return messages, r.Records(), r.Notes()
}

func codexSays(role, text string) string {
	return `{"type":"response_item","payload":{"type":"message","role":"` + role + `","content":[{"type":"input_text","text":"` + text + `"}]}}` + "\n"
}

func codexCompacted(payload string) string { return `{"type":"compacted","payload":` + payload + "}\n" }

func TestCodexCompactions(t *testing.T) {
	t.Parallel()
	const prefix = `Another language model started to solve this problem:\n`
	for name, c := range map[string]struct {
		payload, summary string
	}{
		"in words of its own":      {`{"message":"what was done"}`, "what was done"},
		"behind the usual words":   {`{"message":"` + prefix + `what was\ndone"}`, "what was\ndone"},
		"in the history behind":    {`{"message":"","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]},{"type":"message","role":"user","content":[{"type":"input_text","text":"` + prefix + `done"}]}]}`, "done"},
		"encrypted":                {`{"message":"","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]},{"type":"compaction","encrypted_content":"c2VjcmV0"}]}`, ""},
		"a history of the user":    {`{"message":"","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]}]}`, ""},
		"a history of other parts": {`{"message":"","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_image","image_url":"a"}]}]}`, ""},
		"nothing":                  {`{"message":""}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			messages, records, notes := readWith(t, codexHeader+codexSays("user", "1")+codexSays("assistant", "2")+
				codexCompacted(c.payload)+codexSays("user", "3"))
			require.Len(t, messages, 3)
			if c.summary == "" {
				require.Empty(t, records)
				require.Equal(t, []transcript.Note{{Count: 1, Text: "1 compaction without a summary left out"}}, notes)
				return
			}
			require.Len(t, records, 1)
			require.Equal(t, c.summary, records[0].GetCompaction().GetSummary())
			require.Equal(t, uint32(2), records[0].GetCompaction().GetFirstKeptIndex())
			require.Equal(t, uint32(3), records[0].GetAfterMessages())
			require.Empty(t, notes)
		})
	}
}

func tokenCount(total, input int) string {
	number := func(n int) string { return strings.Repeat("1", n) }
	return `{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"total_tokens":` + number(total) +
		`},"last_token_usage":{"input_tokens":` + number(input) + `}}}}` + "\n"
}

// Codex repeats the last usage when a turn begins. That is not the usage of the model's next response.
func TestUsageOfCodexGoesToTheResponseBeforeIt(t *testing.T) {
	t.Parallel()
	call := `{"type":"response_item","payload":{"type":"function_call","name":"ls","arguments":"{}","call_id":"1"}}` + "\n"
	result := `{"type":"response_item","payload":{"type":"function_call_output","call_id":"1","output":"a"}}` + "\n"
	messages, _, _ := readWith(t, codexHeader+codexSays("user", "1")+call+tokenCount(1, 1)+result+
		codexSays("assistant", "2")+tokenCount(1, 1)+tokenCount(2, 2)+tokenCount(3, 3)+codexSays("user", "3")+tokenCount(3, 3)+
		codexSays("assistant", "4")+tokenCount(4, 4)+codexSays("assistant", "5"))
	var inputs []uint32
	for _, m := range messages {
		inputs = append(inputs, m.GetUsage().GetInputTokens())
	}
	require.Equal(t, []uint32{0, 1, 0, 11, 0, 1111, 0}, inputs)
}

func TestResponsesOfCodexThatWereBrokenOff(t *testing.T) {
	t.Parallel()
	const aborted, whole = compactordv1.StopReason_STOP_REASON_ABORTED, compactordv1.StopReason_STOP_REASON_UNSPECIFIED
	event := `{"type":"event_msg","payload":{"type":"turn_aborted"}}` + "\n"
	for name, c := range map[string]struct {
		input string
		want  compactordv1.StopReason
	}{
		"by an event":               {event, aborted},
		"by a message":              {codexSays("user", `<turn_aborted>\nstopped`), aborted},
		"behind its usage":          {tokenCount(1, 1) + event, whole},
		"by another user's words":   {codexSays("user", "turn_aborted"), whole},
		"by the end of the rollout": {"", whole},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			messages, _, _ := readWith(t, codexHeader+codexSays("assistant", "a")+c.input)
			require.Equal(t, c.want, messages[0].GetStopReason())
		})
	}
}

func TestUserMessagesThatCodexWroteStartNoTurn(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]compactordv1.Origin{
		"# AGENTS.md instructions for /repo": compactordv1.Origin_ORIGIN_CONTINUE,
		"<environment_context>":              compactordv1.Origin_ORIGIN_CONTINUE,
		"<ENVIRONMENT_CONTEXT>":              compactordv1.Origin_ORIGIN_CONTINUE,
		"<user_instructions>":                compactordv1.Origin_ORIGIN_CONTINUE,
		"<turn_aborted>":                     compactordv1.Origin_ORIGIN_CONTINUE,
		"<user_shell_command>":               compactordv1.Origin_ORIGIN_IMPORT,
		"Fix <environment_context>":          compactordv1.Origin_ORIGIN_IMPORT,
	} {
		messages, _, _ := readWith(t, codexHeader+codexSays("user", text))
		require.Equal(t, want, messages[0].GetOrigin(), text)
	}
}

func TestCodexSessionsThatGoOnFromOthersHaveOneHeader(t *testing.T) {
	t.Parallel()
	header := func(text string) string {
		return `{"type":"session_meta","payload":{"id":"s","base_instructions":{"text":"` + text + `"}}}` + "\n"
	}
	messages, _, _ := readWith(t, header("new")+header("old")+codexSays("user", "a"))
	require.Len(t, messages, 2)
	require.Equal(t, "new", textOf(messages[0]))
}

func TestCodexIsReadAsItArrives(t *testing.T) {
	t.Parallel()
	in, out := io.Pipe()
	go func() {
		_, _ = io.WriteString(out, codexHeader+codexSays("user", "1"))
		_, _ = io.WriteString(out, codexSays("assistant", "2"))
		// The answer can continue until the next message shows its end.
		_, _ = io.WriteString(out, codexSays("user", "3"))
	}()
	r, err := transcript.Open(in)
	require.NoError(t, err)
	for _, want := range []string{"1", "2", "3"} {
		m, err := r.Next()
		require.NoError(t, err)
		require.Equal(t, want, textOf(m))
	}
	require.NoError(t, out.Close())
	_, err = r.Next()
	require.ErrorIs(t, err, io.EOF)
}

func TestBrokenLinesOfCodexArePassedOver(t *testing.T) {
	t.Parallel()
	messages, _, notes := readWith(t, codexHeader+codexSays("user", "1")+`{"type":"response_item","payl`+"\n"+codexSays("user", "2"))
	require.Len(t, messages, 2)
	require.Equal(t, []transcript.Note{{Count: 1, Text: "1 broken line left out (line 3)"}}, notes)
}

func TestOpenHandsCondensations(t *testing.T) {
	t.Parallel()
	said := func(id, text string) string {
		return `{"id":` + id + `,"source":"user","action":"message","args":{"content":"` + text + `"}},`
	}
	for name, c := range map[string]struct {
		args  string
		kept  uint32
		notes []transcript.Note
	}{
		"by a list":         {`{"summary":"s","forgotten_event_ids":[4,0,2]}`, 2, []transcript.Note{}},
		"by a range":        {`{"summary":"s","forgotten_events_start_id":0,"forgotten_events_end_id":2}`, 1, []transcript.Note{}},
		"all":               {`{"summary":"s","forgotten_event_ids":[0,4,6]}`, 3, []transcript.Note{}},
		"all but the first": {`{"summary":"s","forgotten_event_ids":[4]}`, 2, []transcript.Note{{Count: 1, Text: "1 condensation kept the beginning too, which its summary now covers"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			messages, records, notes := readWith(t, openHands+said("0", "a")+said("4", "b")+said("6", "c")+
				`{"id":7,"action":"condensation","args":`+c.args+`},`+strings.TrimSuffix(said("8", "d"), ",")+`]}`)
			require.Len(t, messages, 4)
			require.Len(t, records, 1)
			require.Equal(t, c.kept, records[0].GetCompaction().GetFirstKeptIndex())
			require.Equal(t, "openhands", records[0].GetCompaction().GetTool())
			require.Equal(t, append([]transcript.Note{{Count: 1, Text: "1 field on the run left out"}}, c.notes...), notes)
		})
	}
}

func TestOpenHandsCondensationWithoutASummaryIsTold(t *testing.T) {
	t.Parallel()
	_, records, notes := readWith(t, openHands+`{"source":"user","action":"message","args":{"content":"a"}},{"id":7,"action":"condensation","args":{"summary":null,"forgotten_event_ids":[0]}}]}`)
	require.Empty(t, records)
	require.Contains(t, notes, transcript.Note{Count: 1, Text: "1 compaction without a summary left out"})
}

func TestGeminiChatsThatWereWrittenAnew(t *testing.T) {
	t.Parallel()
	said := func(id, text string) string { return `{"id":"` + id + `","type":"user","content":"` + text + `"}` }
	for name, c := range map[string]struct {
		lines []string
		want  []string
	}{
		"replaced":             {[]string{said("1", "a"), said("2", "b"), said("1", "c")}, []string{"c", "b"}},
		"taken back":           {[]string{said("1", "a"), said("2", "b"), `{"$rewindTo":"2"}`, said("3", "c")}, []string{"a", "c"}},
		"taken back and again": {[]string{said("1", "a"), `{"$rewindTo":"1"}`, said("1", "b")}, []string{"b"}},
		"taken back wholly":    {[]string{said("1", "a"), said("2", "b"), `{"$rewindTo":"9"}`, said("3", "c")}, []string{"c"}},
		"all anew":             {[]string{said("1", "a"), `{"$set":{"messages":[` + said("7", "x") + `,` + said("8", "y") + `]}}`, said("9", "z")}, []string{"x", "y", "z"}},
		"only fields":          {[]string{said("1", "a"), `{"$set":{"summary":"s"}}`}, []string{"a"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			messages, _, _ := readWith(t, geminiLine+strings.Join(c.lines, "\n"))
			var texts []string
			for _, m := range messages {
				texts = append(texts, textOf(m))
			}
			require.Equal(t, c.want, texts)
		})
	}
}

func TestSWEAgentDemonstrationsAreNoWorkOfTheAgent(t *testing.T) {
	t.Parallel()
	messages, _, _ := readWith(t, `{"history":[{"role":"user","agent":"main","is_demo":true,"content":"a"},`+
		`{"role":"assistant","agent":"main","is_demo":true,"content":"b"},{"role":"user","agent":"main","content":"c"},`+
		`{"role":"assistant","agent":"main","content":"d"},{"role":"user","agent":"main","content":"e"}]}`)
	const imported, goesOn = compactordv1.Origin_ORIGIN_IMPORT, compactordv1.Origin_ORIGIN_CONTINUE
	for i, want := range []compactordv1.Origin{goesOn, imported, imported, imported, goesOn} {
		require.Equal(t, want, messages[i].GetOrigin(), "message %d", i)
	}
}

func TestThinkingThatIsToldTwiceIsReadOnce(t *testing.T) {
	t.Parallel()
	messages, _, _ := readWith(t, miniList+`{"role":"assistant","content":"","reasoning_content":"a","thinking_blocks":[{"type":"thinking","thinking":"a"},{"type":"redacted_thinking","data":"Yg=="}]}]}`)
	require.Len(t, messages[0].GetParts(), 2)
	require.Equal(t, "a", messages[0].GetParts()[0].GetThinking().GetText())
	require.True(t, messages[0].GetParts()[1].GetThinking().GetRedacted())
}

func TestCommandsOfOpenHandsThatGoOnHaveNotFailed(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]bool{"0": false, "-1": false, "1": true} {
		messages, _, _ := readWith(t, openHands+`{"source":"agent","action":"run","args":{"command":"a"}},{"observation":"run","content":"b","extras":{"exit_code":`+code+`}}]}`)
		require.Equal(t, want, messages[1].GetParts()[0].GetToolResult().GetIsError(), code)
	}
}

func TestBrokenRunsOfOpenHandsBehindALongOneArePassedOver(t *testing.T) {
	t.Parallel()
	long := openHands + `{"source":"user","action":"message","args":{"content":"` + strings.Repeat("a", 2<<20) + `"}}]}`
	messages, notes, err := read(long + "\n" + `{"history":[{"source":"us` + "\n")
	require.NoError(t, err)
	require.Len(t, messages, 1)
	require.Equal(t, "1 broken line left out (line 2)", notes[0].Text)
}

func TestSelectedRunOfOpenHands(t *testing.T) {
	t.Parallel()
	run := func(content string) string {
		return openHands + `{"source":"user","action":"message","args":{"content":` + content + `}}]}` + "\n"
	}
	runs := run(`"a"`) + run(`"b"`)
	for n, want := range map[int]string{1: "a", 2: "b"} {
		messages, _, err := read(runs, transcript.Select(n))
		require.NoError(t, err)
		require.Equal(t, want, textOf(messages[0]))
	}
	_, _, err := read(runs)
	require.EqualError(t, err, "the input holds 2 sessions, and only one can be read: select one, from 1 to 2")
	_, _, err = read(run(`"a"`)+run(`12`), transcript.Select(2), transcript.Strict())
	require.EqualError(t, err, "line 2: history[0].args.content: must be a string, is a number")
	_, _, err = read(runs, transcript.Select(3))
	require.EqualError(t, err, "there is no session 3: the input holds 2")
}
