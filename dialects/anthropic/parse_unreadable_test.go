package anthropic_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/anthropic"
	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/dialecttest"
)

func TestWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("n", 600)
	for _, c := range []struct {
		name, raw, rule, field, says string
		message, part                int
	}{
		{"nothing", ``, dialect.InputShape, "", "breaks off", -1, 0},
		{"no JSON", `[{"role":}]`, dialect.InputShape, "", "goes wrong at byte", -1, 0},
		{"JSON that breaks off", `[{"role":"user"`, dialect.InputShape, "", "breaks off", -1, 0},
		{"no UTF-8", "[{\"role\":\"user\",\"content\":\"\xff\"}]", dialect.InputShape, "", "UTF-8", -1, 0},
		{"no list", `"Hello"`, dialect.InputShape, "", "is no list", -1, 0},
		{"nothing that is known", `{"contents":[]}`, dialect.InputShape, "", "is no list", -1, 0},
		{
			"the body of an error", `{"type":"error","error":{"type":"overloaded_error","message":"secret"}}`,
			dialect.InputShape, "error", "ClassifyError", -1, 0,
		},
		{"messages that are none", `{"messages":{}}`, dialect.InputShape, "messages", "must be an array", -1, 0},
		{"a system prompt that is none", `{"system":7,"messages":[]}`, dialect.InputShape, "system", "string or an array", -1, 0},
		{
			"an image in the system prompt", `{"system":[{"type":"text","text":"a"},{"type":"image"}],"messages":[]}`,
			dialect.InputShape, "system[1].type", "must be text", 0, 1,
		},
		{"a message that is none", `[{"role":"user","content":"a"},7]`, dialect.InputShape, "", "must be an object", 1, 0},
		{"no role", `[{"content":"a"}]`, dialect.InputShape, "role", "is missing", 0, 0},
		{"an unknown role", `[{"role":"critic","content":"a"}]`, dialect.InputShape, "role", "unknown role", 0, 0},
		{"content that is none", `[{"role":"user","content":7}]`, dialect.InputShape, "content", "string or an array", 0, 0},
		{"a block that is none", `[{"role":"user","content":[{"type":"text","text":"a"},"b"]}]`, dialect.InputShape, "content[1]", "must be an object", 0, 1},
		{"a block without a type", `[{"role":"user","content":[{"text":"a"}]}]`, dialect.InputShape, "content[0].type", "is missing", 0, 0},
		{"text that is none", `[{"role":"user","content":[{"type":"text","text":7}]}]`, dialect.InputShape, "content[0].text", "must be a string", 0, 0},
		{"no text", `[{"role":"user","content":[{"type":"text"}]}]`, dialect.InputShape, "content[0].text", "is missing", 0, 0},
		{
			"a call of the user", `[{"role":"user","content":[{"type":"text","text":"a"},{"type":"tool_use","id":"t","name":"n","input":{}}]}]`,
			dialect.InputShape, "content[1].type", "only an assistant", 0, 1,
		},
		{"thinking of the user", `[{"role":"user","content":[{"type":"thinking","thinking":"a"}]}]`, dialect.InputShape, "content[0].type", "only an assistant", 0, 0},
		{
			"a result of the assistant", `[{"role":"assistant","content":[{"type":"tool_result","tool_use_id":"t"}]}]`,
			dialect.InputShape, "content[0].type", "only a user", 0, 0,
		},
		{"a call without a name", `[{"role":"assistant","content":[{"type":"tool_use","id":"t","input":{}}]}]`, dialect.InputShape, "content[0].name", "is missing", 0, 0},
		{
			"an overlong id", `[{"role":"assistant","content":[{"type":"tool_use","id":"` + long + `","name":"n","input":{}}]}]`,
			dialect.InputLimit, "content[0].id", "600 bytes", 0, 0,
		},
		{
			"an overlong name", `[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"` + long + `","input":{}}]}]`,
			dialect.InputLimit, "content[0].name", "600 bytes", 0, 0,
		},
		{"an overlong type", `[{"role":"assistant","content":[{"type":"` + long + `"}]}]`, dialect.InputLimit, "content[0].type", "600 bytes", 0, 0},
		{
			"a flag that is none", `[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","is_error":"no"}]}]`,
			dialect.InputShape, "content[0].is_error", "must be a boolean", 0, 0,
		},
		{
			"a text within a result", `[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text"}]}]}]`,
			dialect.InputShape, "content[0].content[0].text", "is missing", 0, 0,
		},
		{"an image without a source", `[{"role":"user","content":[{"type":"image"}]}]`, dialect.InputShape, "content[0].source", "is missing", 0, 0},
		{
			"an image in no base64", `[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"secret!"}}]}]`,
			dialect.InputShape, "content[0].source.data", "not valid base64", 0, 0,
		},
		{
			"an image without a type", `[{"role":"user","content":[{"type":"image","source":{"type":"base64","data":"AQID"}}]}]`,
			dialect.InputShape, "content[0].source.media_type", "is missing", 0, 0,
		},
		{
			"an image from nowhere", `[{"role":"user","content":[{"type":"image","source":{"type":"url"}}]}]`,
			dialect.InputShape, "content[0].source.url", "is missing", 0, 0,
		},
		{
			"an overlong address", `[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"` + strings.Repeat(long, 20) + `"}}]}]`,
			dialect.InputLimit, "content[0].source.url", "12000 bytes", 0, 0,
		},
		{"a field that looks like a note", `[{"role":"user","content":"a","$form":"string"}]`, dialect.InputShape, "", "begins with $", 0, 0},
		{"a response of the user", `{"type":"message","role":"user","content":"a"}`, dialect.InputShape, "role", "must be assistant", 0, 0},
		{
			"usage that is none", `{"type":"message","role":"assistant","content":"a","usage":{"input_tokens":-1}}`,
			dialect.InputShape, "usage.input_tokens", "whole number", 0, 0,
		},
		{"too many fields", `[{"role":"user","content":[{"type":"text","text":"a"` + fields(65) + `}]}]`, dialect.InputLimit, "content[0]", "more than 64", 0, 0},
		{"too many fields and notes", `[{"role":"user","content":"a"` + fields(64) + `}]`, dialect.InputLimit, "", "more than 64", 0, 0},
		{"too many blocks of a result", `[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[` +
			strings.TrimSuffix(strings.Repeat(`{"type":"text","text":""},`, 1001), ",") + `]}]}]`, dialect.InputLimit, "content[0].content", "more than 1000", 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			refused, taken := dialecttest.Unreadable(t, anthropic.New(), []byte(c.raw))
			// A list is refused as a whole only where none of its messages can be read.
			require.Equal(t, c.message >= 0 && c.field != "role", taken)
			require.Equal(t, c.rule, refused.Rule)
			require.Equal(t, c.field, refused.Field)
			require.ErrorContains(t, refused, c.says)
			require.NotContains(t, refused.Error(), "secret")
			require.Equal(t, [2]int{c.message, c.part}, [2]int{refused.Message, refused.Part})
		})
	}
}

func fields(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(`,"f` + strings.Repeat("x", i) + `":1`)
	}
	return b.String()
}
