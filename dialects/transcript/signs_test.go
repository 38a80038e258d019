package transcript_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/transcript"
)

func TestDialectsAreToldByWhatOnlyTheyHave(t *testing.T) {
	t.Parallel()
	plain := hello + `{"role":"assistant","content":"hush"}` + "\n"
	for name, c := range map[string]struct {
		want  transcript.Format
		input string
	}{
		"plain":                    {transcript.OpenAIChat, plain},
		"chat by a call":           {transcript.OpenAIChat, plain + `{"role":"assistant","tool_calls":[]}`},
		"chat by an image":         {transcript.OpenAIChat, plain + `{"role":"user","content":[{"type":"image_url","image_url":{"url":"a"}}]}`},
		"chat by a choice":         {transcript.OpenAIChat, `{"choices":[{"message":{"role":"assistant","content":"a"}}]}`},
		"anthropic by a call":      {transcript.Anthropic, plain + `{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"a","input":{}}]}`},
		"anthropic by an image":    {transcript.Anthropic, plain + `{"role":"user","content":[{"type":"image","source":{"type":"url","url":"a"}}]}`},
		"anthropic by a response":  {transcript.Anthropic, `{"type":"message","role":"assistant","content":[],"stop_reason":"end_turn","usage":{}}`},
		"anthropic by its system":  {transcript.Anthropic, `{"messages":[` + strings.TrimSpace(hello) + `],"system":"a"}`},
		"anthropic by its tools":   {transcript.Anthropic, `{"messages":[],"tools":[{"name":"a","input_schema":{}}]}`},
		"anthropic in an array":    {transcript.Anthropic, `[` + hello + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"t"}]}]`},
		"responses by an item":     {transcript.OpenAIResponses, plain + `{"type":"function_call","call_id":"c","name":"a","arguments":"{}"}`},
		"responses by a message":   {transcript.OpenAIResponses, `{"type":"message","role":"user","content":"a"}`},
		"responses by a content":   {transcript.OpenAIResponses, plain + `{"role":"user","content":[{"type":"input_text","text":"a"}]}`},
		"responses by a body":      {transcript.OpenAIResponses, `{"model":"m","input":"a"}`},
		"responses by a response":  {transcript.OpenAIResponses, `{"object":"response","output":[]}`},
		"gemini by parts":          {transcript.Gemini, `{"role":"user","parts":[{"text":"a"}]}`},
		"gemini by contents":       {transcript.Gemini, `{"contents":[]}`},
		"gemini by candidates":     {transcript.Gemini, `{"candidates":[{"content":{"role":"model","parts":[{"text":"a"}]}}]}`},
		"kimi by its prompt":       {transcript.Kimi, `{"role":"_system_prompt","content":"a"}` + "\n" + plain},
		"claude by a title":        {transcript.ClaudeCode, `{"type":"summary","summary":"a","leafUuid":"u"}`},
		"claude by a snapshot":     {transcript.ClaudeCode, `{"type":"file-history-snapshot","messageId":"m","snapshot":{}}`},
		"decided far down":         {transcript.Anthropic, strings.Repeat(hello, 63) + `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t"}]}`},
		"decided too far down":     {transcript.OpenAIChat, strings.Repeat(hello, 64) + `{"role":"tool","content":"a"}`},
		"behind a broken line":     {transcript.Kimi, "hush\n" + `{"role":"_checkpoint","id":0}` + "\n" + hello},
		"a long line cut off":      {transcript.OpenAIChat, `{"role":"tool","content":"` + strings.Repeat("a", 2<<20) + `"}`},
		"a document over lines":    {transcript.Gemini, "{\n  \"contents\": [\n    {\"role\": \"user\", \"parts\": [{\"text\": \"a\"}]}\n  ]\n}\n"},
		"a long document cut off":  {transcript.Anthropic, `{"system":"a","messages":[{"role":"user","content":"` + strings.Repeat("a", 2<<20) + `"}]}`},
		"a long array of messages": {transcript.OpenAIChat, `[{"role":"tool","content":"a"},{"role":"tool","content":"` + strings.Repeat("a", 2<<20) + `"}]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := transcript.Open(strings.NewReader(c.input))
			require.NoError(t, err)
			require.Equal(t, c.want, r.Format())
			_, err = r.ReadAll()
			require.NoError(t, err)
		})
	}
}

func TestFormatsCanBeForced(t *testing.T) {
	t.Parallel()
	for _, id := range []transcript.Format{transcript.OpenAIChat, transcript.Anthropic, transcript.OpenAIResponses, transcript.Kimi} {
		r, err := transcript.OpenAs(strings.NewReader(hello), id)
		require.NoError(t, err)
		require.Equal(t, id, r.Format())
		messages, err := r.ReadAll()
		require.NoError(t, err)
		require.Len(t, messages, 1)
		require.Equal(t, "hush", textOf(messages[0]))
	}
	_, err := transcript.OpenAs(strings.NewReader(hello), "hush")
	require.ErrorContains(t, err, "there is no such format; known are pi, ")
	for _, id := range transcript.Formats() {
		require.NotEqual(t, "unknown format", id.String())
	}
}

// The items of one answer become one message, wherever the lines or elements begin.
func TestItemsOfResponsesAreReadInBatches(t *testing.T) {
	t.Parallel()
	items := []string{
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]}`,
		`{"type":"reasoning","id":"r","summary":[]}`,
		`{"type":"function_call","call_id":"c","name":"a","arguments":"{}"}`,
		`{"type":"function_call","call_id":"d","name":"a","arguments":"{}"}`,
		`{"type":"function_call_output","call_id":"c","output":"1"}`,
		`{"type":"function_call_output","call_id":"d","output":"2"}`,
		`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"b"}]}`,
	}
	for _, input := range []string{strings.Join(items, "\n"), "[" + strings.Join(items, ",") + "]"} {
		messages, _, err := read(input)
		require.NoError(t, err)
		var positions []uint32
		for _, m := range messages {
			positions = append(positions, m.GetSourcePosition())
		}
		require.Equal(t, []uint32{0, 1, 4, 5, 6}, positions)
		require.Len(t, callsOf(messages[1]), 2)
	}
	_, _, err := read(strings.Join(items[:3], "\n")+"\n"+`{"type":"function_call","call_id":7,"name":"a"}`, transcript.Strict())
	var line *transcript.LineError
	require.ErrorAs(t, err, &line)
	require.Equal(t, 4, line.Line)
}

func TestErrorsInBodiesNameTheMessage(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{
		`{"system":"a","messages":[{"role":"user","content":"a"},{"role":"hush"}]}`: "messages[1].role",
		`{"system":[{"type":"text"}],"messages":[]}`:                                "system[0].text",
		`{"contents":[{"role":"user","parts":"hush"}]}`:                             "contents[0].parts",
	} {
		_, _, err := read(input, transcript.Strict())
		var line *transcript.LineError
		require.ErrorAs(t, err, &line, input)
		require.Equal(t, 1, line.Line)
		require.Equal(t, want, line.Field)
		require.NotContains(t, err.Error(), "hush")
	}
}
