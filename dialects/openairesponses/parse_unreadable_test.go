package openairesponses_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/dialecttest"
	"github.com/compactord/compactord/dialects/openairesponses"
)

func TestWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	long := `"` + strings.Repeat("x", 600) + `"`
	for _, test := range []struct {
		name, raw, rule string
		at              int
		field, text     string
	}{
		{"nothing", "", dialect.InputShape, -1, "", "it breaks off at its end"},
		{"no JSON", "[{]", dialect.InputShape, -1, "", "is not valid JSON"},
		{"half of JSON", `{"input":[`, dialect.InputShape, -1, "", "it breaks off at its end"},
		{"not UTF-8", "\"\xff\"", dialect.InputShape, -1, "", "is not valid UTF-8"},
		{"a number", "1", dialect.InputShape, -1, "", "must be an object, is a number"},
		{"an object without a list", `{"model":"m"}`, dialect.InputShape, -1, "", "is no list of items"},
		{"an error body", `{"error":{"message":"secret"}}`, dialect.InputShape, -1, "", "ClassifyError"},
		{"an error body with a type", `{"type":"error","error":{"message":"secret"}}`, dialect.InputShape, -1, "", "ClassifyError"},
		{"input of another kind", `{"input":1}`, dialect.InputShape, -1, "input", "must be an array, is a number"},
		{"an item of another kind", `[{"role":"user","content":"a"},"b"]`, dialect.InputShape, 1, "", "must be an object, is a string"},
		{"an item without a type", `[{"content":"a"}]`, dialect.InputShape, 0, "type", "is missing"},
		{"a role that there is not", `[{"role":"critic","content":"a"}]`, dialect.InputShape, 0, "role", "must be user, assistant, system or developer"},
		{"content of another kind", `[{"role":"user","content":1}]`, dialect.InputShape, 0, "content", "must be an array, is a number"},
		{"a part of another kind", `[{"role":"user","content":["a"]}]`, dialect.InputShape, 0, "content[0]", "must be an object, is a string"},
		{"a part without a text", `[{"role":"user","content":[{"type":"input_text"}]}]`, dialect.InputShape, 0, "content[0].text", "is missing"},
		{"a part without a type", `[{"role":"user","content":[{"text":"a"}]}]`, dialect.InputShape, 0, "content[0].type", "is missing"},
		{"an image that is no base64", `[{"role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,?"}]}]`, dialect.InputShape, 0, "content[0].image_url", "is not valid base64"},
		{"an address of another kind", `[{"role":"user","content":[{"type":"input_image","image_url":{"url":"a"}}]}]`, dialect.InputShape, 0, "content[0].image_url", "must be a string, is an object"},
		{"a call without a name", `[{"type":"function_call","call_id":"1","arguments":"{}"}]`, dialect.InputShape, 0, "name", "is missing"},
		{"a call with an empty name", `[{"type":"function_call","call_id":"1","name":"","arguments":"{}"}]`, dialect.InputShape, 0, "name", "is empty"},
		{"arguments of another kind", `[{"type":"function_call","call_id":"1","name":"f","arguments":{}}]`, dialect.InputShape, 0, "arguments", "must be a string, is an object"},
		{"a call id of another kind", `[{"type":"function_call_output","call_id":1,"output":""}]`, dialect.InputShape, 0, "call_id", "must be a string, is a number"},
		{"a call id that is too long", `[{"type":"function_call_output","call_id":` + long + `,"output":""}]`, dialect.InputLimit, 0, "call_id", "at most 512 are possible"},
		{"a name that is too long", `[{"type":"function_call","call_id":"1","name":` + long + `,"arguments":"{}"}]`, dialect.InputLimit, 0, "name", "at most 256 are possible"},
		{"a type that is too long", `[{"type":` + long + `}]`, dialect.InputLimit, 0, "type", "at most 256 are possible"},
		{"a field that looks like a note", `[{"role":"user","content":"a","$x":1}]`, dialect.InputShape, 0, "", "begins with $"},
		{"a summary of another kind", `[{"type":"reasoning","summary":"a"}]`, dialect.InputShape, 0, "summary", "must be an array, is a string"},
		{"instructions of another kind", `{"instructions":[],"input":"a"}`, dialect.InputShape, 0, "instructions", "must be a string, is an array"},
		{"a response with a message of the user", `{"output":[{"role":"user","content":"a"}]}`, dialect.InputShape, 0, "", "holds only what the model says and does"},
		{"a response with more from the cache than there was", `{"output":[],"usage":{"input_tokens":1,"input_tokens_details":{"cached_tokens":2}}}`, dialect.InputShape, 0, "usage.input_tokens_details.cached_tokens", "is more than the whole input"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			refused, taken := dialecttest.Unreadable(t, openairesponses.New(), []byte(test.raw))
			// A list is refused as a whole only where none of its items can be read.
			whole := test.at < 0 || slices.Contains([]string{"role", "type", "name", "call_id"}, test.field) ||
				test.name == "a response with a message of the user"
			require.Equal(t, !whole, taken)
			require.Equal(t, test.rule, refused.Rule)
			require.Equal(t, test.at, refused.Message)
			require.Equal(t, test.field, refused.Field)
			require.ErrorContains(t, refused.Err, test.text)
			require.NotContains(t, refused.Error(), "secret")
		})
	}
}
