package dialects_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects"
	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/dialecttest"
)

// FuzzAnswer reads any answer. What cannot be read is ignored.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		`{"choices":[{"delta":{"content":[{"text":1}],"tool_calls":[null]},"finish_reason":"stop"}],"usage":{"prompt_tokens":"x"}}`,
		`{"type":"message_start","message":{"usage":{"input_tokens":1e30}}}`, `{"type":"message","content":[{"type":"text","text":"a"}]}`,
		`{"type":"response.completed","response":{"output":[{"type":"message","content":"a"}],"usage":[]}}`, `{"object":"response"}`,
		`{"candidates":[null,{"content":{"parts":[null,{"text":"a"}]}}],"usageMetadata":{}}`, `null`, `[]`, `1`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, d := range dialects.All() {
			r := d.NewAnswer()
			for range 2 {
				piece, err := r.Event(raw)
				require.False(t, err != nil && piece.Text != "", "an error with a text")
			}
			_, _ = d.NewAnswer().Body(raw)
		}
	})
}

// FuzzStream parses any stream. It becomes one message that can go into a request, or is refused with a reason.
func FuzzStream(f *testing.F) {
	for _, seed := range []string{
		`[{"choices":[{"delta":{"content":"a"}}]},{"choices":[{"delta":{"content":[{"type":"text","text":"b"}],"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{"}}]},"finish_reason":"stop"}]}]`,
		`[{"choices":[{"index":1,"delta":{"tool_calls":[{"function":{}},{"id":1}],"reasoning_details":[{"index":0,"text":""}]}}]},{"error":"x"}]`,
		`[{"type":"chunk","chunk":{"type":"chunk","chunk":{"choices":[]}}}]`,
		`[{"type":"message_start","message":{"content":[]}},{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","name":"f","id":"t"}},{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"[1"}},{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":1}}]`,
		`[{"type":"content_block_start","index":9,"content_block":{"type":"text"}},{"type":"content_block_delta","index":9,"delta":{"type":"x","text":"a","citations":{}}},{"type":"content_block_delta","index":9,"delta":{"type":"citations_delta","citation":1}}]`,
		`[{"type":"response.created","response":{"output":[]}},{"type":"response.output_item.added","output_index":0,"item":{"type":"message","role":"assistant","content":[]}},{"type":"response.output_text.delta","output_index":0,"content_index":7,"delta":"a"}]`,
		`[{"type":"response.completed","response":{"status":"completed","output":[{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}]}}]`,
		`[{"type":"error","error":{"code":7,"message":null}}]`,
		`[{"candidates":[{"content":{"parts":[{"text":"a","thought":true}]}}]},{"candidates":[{"index":2,"content":{"parts":[{"functionCall":{"name":"f"}}]},"finishReason":"STOP"}]},{"error":{}}]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, d := range dialects.All() {
			parsed, err := d.Parse(raw)
			if err != nil {
				refused := &dialect.InputError{}
				require.ErrorAs(t, err, &refused)
				continue
			}
			list, err := d.Split(raw)
			require.NoError(t, err)
			d.Validate(list, dialect.Request)
			dialecttest.RequireRendered(t, d, dialecttest.ViewOf(parsed.Messages))
		}
	})
}
