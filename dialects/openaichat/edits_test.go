package openaichat_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// Attachments must not bring back what an edit removed from a part or its message.
func TestEdits(t *testing.T) {
	t.Parallel()
	setArguments := func(text string) func(*compactordv1.Message) {
		return func(m *compactordv1.Message) { m.GetParts()[0].GetToolCall().Arguments = text }
	}
	hide := func(m *compactordv1.Message) {
		m.GetParts()[0].GetToolResult().Parts = []*compactordv1.ResultPart{{
			Kind: &compactordv1.ResultPart_Text{Text: &compactordv1.TextPart{Text: "(hidden)"}},
		}}
	}
	replaceFirst := func(m *compactordv1.Message) { m.Parts[0] = session.TextPart("(gone)") }
	for name, c := range map[string]struct {
		raw     string
		edit    func(*compactordv1.Message)
		written string
		request string
	}{
		"arguments": {
			`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","x":1,"function":{"name":"f","arguments":"{\"secret\":1}","y":2}}]}`,
			setArguments(`{"cut":true}`),
			`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","x":1,"function":{"name":"f","arguments":"{\"cut\":true}","y":2}}]}`, "",
		},
		"arguments with half a character": {
			`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"secret\":\"\ud83d\"}"}}]}`,
			setArguments(`{}`),
			`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}`, "",
		},
		"arguments as an object": {
			`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":{"secret":1}}}]}`,
			setArguments(`{"cut":true}`),
			`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":{"cut":true}}}]}`,
			`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"cut\":true}"}}]}`,
		},
		"arguments as an object, cut to a text": {
			`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":{"secret":1}}}]}`,
			setArguments(`{"cut`),
			`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"cut"}}]}`,
			`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"_raw\":\"{\\\"cut\"}"}}]}`,
		},
		"input": {
			`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"custom","custom":{"name":"f","input":"secret \ud83d"}}]}`,
			setArguments(`cut`),
			`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"custom","custom":{"name":"f","input":"cut"}}]}`, "",
		},
		"function_call": {
			`{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{\"secret\":\"\ud83d\"}"}}`,
			setArguments(`{}`),
			`{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{}"}}`,
			`{"role":"assistant","content":null,"tool_calls":[{"id":"call_0_0","type":"function","function":{"name":"f","arguments":"{}"}}]}`,
		},
		"a call": {
			`{"role":"assistant","tool_calls":[{"id":"a","type":"function","x":1,"function":{"name":"f","arguments":"{\"secret\":1}"}}]}`,
			replaceFirst, `{"role":"assistant","content":"(gone)"}`, "",
		},
		"a result": {
			`{"role":"tool","tool_call_id":"a","content":"secret \ud83d","x":1}`,
			hide, `{"role":"tool","tool_call_id":"a","content":"(hidden)","x":1}`, "",
		},
		"a result in an array": {
			`{"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"secret","x":1}]}`,
			hide, `{"role":"tool","tool_call_id":"a","content":"(hidden)"}`, "",
		},
		"a result without content": {
			`{"role":"tool","tool_call_id":"a","content":null}`,
			hide, `{"role":"tool","tool_call_id":"a","content":"(hidden)"}`, "",
		},
		"a medium": {
			`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,c2VjcmV0","detail":"low"}}]}`,
			replaceFirst, `{"role":"user","content":"(gone)"}`, "",
		},
		"thinking": {
			`{"role":"assistant","content":"a","reasoning_content":null,"reasoning":"secret","reasoning_details":[{"text":"secret"}]}`,
			func(m *compactordv1.Message) { m.Parts = m.GetParts()[1:] }, `{"role":"assistant","content":"a"}`, "",
		},
		"a refusal": {
			`{"role":"assistant","content":"a","refusal":"secret \ud83d"}`,
			func(m *compactordv1.Message) { m.Parts = m.GetParts()[:1] }, `{"role":"assistant","content":"a"}`, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			edited := proto.CloneOf(parse(t, []byte(c.raw)).Messages[0])
			c.edit(edited)
			messages := []*compactordv1.Message{edited}
			requireList(t, c.written, render(t, messages, dialect.RenderOptions{AsWritten: true}))
			rendered := render(t, messages, dialect.RenderOptions{})
			require.NotContains(t, string(rawjson.EncodeArray(rendered.Messages)), "secret")
			if c.request == "" {
				c.request = c.written
			}
			requireList(t, c.request, rendered)
		})
	}
}
