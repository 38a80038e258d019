package openaichat_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/dialecttest"
	"github.com/compactord/compactord/dialects/openaichat"
)

func TestWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", dialect.MaxName+1)
	fields := make([]string, dialect.MaxAttachments+1)
	for i := range fields {
		fields[i] = fmt.Sprintf(`"x%d":1`, i)
	}
	for _, c := range []struct {
		raw, rule     string
		message, part int
		field         string
	}{
		{``, dialect.InputShape, -1, 0, ""},
		{`null`, dialect.InputShape, -1, 0, ""},
		{`"hi"`, dialect.InputShape, -1, 0, ""},
		{`[{"role":"user"`, dialect.InputShape, -1, 0, ""},
		{`{"model":"m"}`, dialect.InputShape, -1, 0, ""},
		{`{"error":{"message":"no"}}`, dialect.InputShape, -1, 0, ""},
		{`{"error":{"message":"no"},"choices":[]}`, dialect.InputShape, -1, 0, ""},
		{`{"messages":{}}`, dialect.InputShape, -1, 0, "messages"},
		{`{"messages":[],"system":"be kind"}`, dialect.InputShape, -1, 0, "system"},
		{`{"choices":[]}`, dialect.InputShape, -1, 0, "choices"},
		{`{"choices":[{"delta":{"content":"x"}}]}`, dialect.InputShape, -1, 0, "choices[0].delta"},
		{`{"choices":[{"text":"x"}]}`, dialect.InputShape, -1, 0, "choices[0].message"},
		{`{"choices":[{"message":{"role":"user","content":"x"}}]}`, dialect.InputShape, 0, 0, "role"},
		{`{"choices":[{"message":{"role":"assistant","content":"x"}}],"usage":{"prompt_tokens":-1}}`, dialect.InputShape, 0, 0, "usage.prompt_tokens"},
		{`[null]`, dialect.InputShape, 0, 0, ""},
		{`[{"role":"user","content":"a"},{"content":"hi"}]`, dialect.InputShape, 1, 0, "role"},
		{`[{"role":"_compaction"}]`, dialect.InputShape, 0, 0, "role"},
		{`[{"role":"user","content":1}]`, dialect.InputShape, 0, 0, "content"},
		{`[{"role":"user","content":[{"type":"text","text":"a"},{"text":"b"}]}]`, dialect.InputShape, 0, 1, "content[1].type"},
		{`[{"role":"user","content":[{"type":"text"}]}]`, dialect.InputShape, 0, 0, "content[0].text"},
		{`[{"role":"user","content":[{"type":"` + long + `"}]}]`, dialect.InputLimit, 0, 0, "content[0].type"},
		{`[{"role":"system","content":[{"type":"image_url","image_url":{"url":"x"}}]}]`, dialect.InputShape, 0, 0, "content[0].type"},
		{`[{"role":"user","content":[{"type":"image_url"}]}]`, dialect.InputShape, 0, 0, "content[0].image_url"},
		{`[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,!"}}]}]`, dialect.InputShape, 0, 0, "content[0].image_url.url"},
		{`[{"role":"user","content":[{"type":"image_url","image_url":"data:x"}]}]`, dialect.InputShape, 0, 0, "content[0].image_url"},
		{`[{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"AQID"}}]}]`, dialect.InputShape, 0, 0, "content[0].input_audio.format"},
		{`[{"role":"user","content":[{"type":"file","file":{"filename":"a"}}]}]`, dialect.InputShape, 0, 0, "content[0].file"},
		{`[{"role":"user","content":[{"type":"file","file":{"file_data":1}}]}]`, dialect.InputShape, 0, 0, "content[0].file.file_data"},
		{`[{"role":"user","content":"a","name":"` + long + `"}]`, dialect.InputLimit, 0, 0, "name"},
		{`[{"role":"user","content":"a","tool_calls":[]}]`, dialect.InputShape, 0, 0, "tool_calls"},
		{`[{"role":"tool","content":"a","reasoning_content":"b"}]`, dialect.InputShape, 0, 0, "reasoning_content"},
		{`[{"role":"tool","tool_call_id":1,"content":"a"}]`, dialect.InputShape, 0, 0, "tool_call_id"},
		{`[{"role":"tool","tool_call_id":"a","content":"a","is_error":"yes"}]`, dialect.InputShape, 0, 0, "is_error"},
		{`[{"role":"assistant","content":"a","audio":"x"}]`, dialect.InputShape, 0, 0, "audio"},
		{`[{"role":"assistant","content":"a","refusal":1}]`, dialect.InputShape, 0, 0, "refusal"},
		{`[{"role":"assistant","content":"a","reasoning_content":1}]`, dialect.InputShape, 0, 0, "reasoning_content"},
		{`[{"role":"assistant","content":"a","model":"` + long + `"}]`, dialect.InputLimit, 0, 0, "model"},
		{`[{"role":"assistant","content":"a","usage":{"prompt_tokens":1,"prompt_tokens_details":{"cached_tokens":2}}}]`, dialect.InputShape, 0, 0, "usage.prompt_tokens_details.cached_tokens"},
		{`[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f"}},{"id":"b"}]}]`, dialect.InputShape, 0, 1, "tool_calls[1].function"},
		{`[{"role":"assistant","tool_calls":[{"id":"a","function":{"arguments":"{}"}}]}]`, dialect.InputShape, 0, 0, "tool_calls[0].function.name"},
		{`[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":""}}]}]`, dialect.InputShape, 0, 0, "tool_calls[0].function.name"},
		{`[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":1}}]}]`, dialect.InputShape, 0, 0, "tool_calls[0].function.arguments"},
		{`[{"role":"assistant","tool_calls":[{"id":"a","type":"custom","custom":{"name":"f"}}]}]`, dialect.InputShape, 0, 0, "tool_calls[0].custom.input"},
		{`[{"role":"assistant","function_call":{"arguments":"{}"}}]`, dialect.InputShape, 0, 0, "function_call.name"},
		{`[{"role":"user","content":"a",` + strings.Join(fields, ",") + `}]`, dialect.InputLimit, 0, 0, ""},
		{`[{"role":"user","content":"a","$note":1}]`, dialect.InputShape, 0, 0, ""},
		{`[{"role":"user","content":[` + strings.Repeat(`{"type":"text","text":"a"},`, dialect.MaxParts) + `{"type":"text","text":"a"}]}]`, dialect.InputLimit, 0, 0, "content"},
	} {
		raw := c.raw[:min(len(c.raw), 100)]
		refused, taken := dialecttest.Unreadable(t, openaichat.New(), []byte(c.raw))
		// A list is refused as a whole only where none of its messages can be read.
		whole := c.message < 0 || c.message == 0 && (c.field == "role" || c.field == "tool_call_id") || c.raw == `[null]`
		require.Equal(t, !whole, taken, raw)
		require.Equal(t, c.rule, refused.Rule, raw)
		require.Equal(t, []int{c.message, c.part}, []int{refused.Message, refused.Part}, raw)
		require.Equal(t, c.field, refused.Field, raw)
	}
	_, err := openaichat.New().Parse([]byte(`{"error":{"message":"no"}}`))
	require.ErrorContains(t, err, "ClassifyError")
}
