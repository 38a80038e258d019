package openai_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/internal/wire/wiretest"
	"github.com/compactord/compactord/summarizers/llm"
	"github.com/compactord/compactord/summarizers/openai"
)

func TestChatOnView(t *testing.T) {
	t.Parallel()
	view := &summarizers.View{
		Messages: []json.RawMessage{
			json.RawMessage(`{ "role":"system", "content":"A <b> & c\u003e" }`),
			json.RawMessage(`{"content":null,"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"b\":1, \"a\":2}"}}]}`),
			json.RawMessage(`{"role":"tool","tool_call_id":"c","content":"日本 \u2028 1e400 12345678901234567890"}`),
		},
		Tools: json.RawMessage("[ {\"type\":\"function\",\n\"function\":{\"name\":\"f\",\"parameters\":{\"z\":1.0,\"a\":{}}}} ]"),
	}
	_, seen, err := chat(t, wiretest.Stream(chatWhole), openai.Options{}, &llm.Completion{User: "Sum up.", View: view, MaxOutputTokens: 9})
	require.NoError(t, err)
	require.Contains(t, seen.Body, `"messages":[`+string(view.Messages[0])+","+string(view.Messages[1])+","+string(view.Messages[2])+`,{`)
	require.Contains(t, seen.Body, `"tools":`+string(view.Tools)+`}`)
	require.NotContains(t, seen.Body, "tool_choice")
	var body struct {
		Messages []map[string]any `json:"messages"`
	}
	require.NoError(t, json.Unmarshal([]byte(seen.Body), &body))
	require.Len(t, body.Messages, 4)
	require.Equal(t, map[string]any{"role": "user", "content": "Sum up."}, body.Messages[3])

	view.Tools = nil
	_, seen, _ = chat(t, wiretest.Stream(chatWhole), openai.Options{}, &llm.Completion{User: "Sum up.", View: view})
	require.NotContains(t, seen.Body, `"tools"`)
}

func TestResponsesOnView(t *testing.T) {
	t.Parallel()
	const (
		first  = `{ "role":"user", "content":"A <b> & c\u003e" }`
		second = `{"type":"reasoning","id":"rs","summary":[],"encrypted_content":"a+/b=="}`
		third  = `{"type":"function_call_output","call_id":"c","output":"12345678901234567890 \u2028 日本"}`
		system = `"You <are> \u003ca\u003e ..."`
		tools  = `[ {"type":"function","name":"f","parameters":{"z":1.0,"a":{}}} ]`
	)
	view := &summarizers.View{
		System: []json.RawMessage{json.RawMessage(system)}, Tools: json.RawMessage(tools),
		Messages: []json.RawMessage{json.RawMessage(first), json.RawMessage(second), json.RawMessage(third)},
	}
	whole := wiretest.Stream(wiretest.Events(ended("completed", output, "")))
	_, seen, err := respond(t, whole, openai.Options{}, &llm.Completion{User: "Sum up.", View: view, MaxOutputTokens: 9})
	require.NoError(t, err)
	var body map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(seen.Body), &body))
	wiretest.SameBytes(t, `[`+first+`,`+second+`,`+third+`,{"role":"user","content":[{"type":"input_text","text":"Sum up."}]}]`, string(body["input"]))
	wiretest.SameBytes(t, system, string(body["instructions"]))
	wiretest.SameBytes(t, tools, string(body["tools"]))
	require.NotContains(t, body, "tool_choice")
}
