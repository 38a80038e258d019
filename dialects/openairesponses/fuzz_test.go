package openairesponses_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/dialecttest"
	"github.com/compactord/compactord/dialects/openairesponses"
)

// FuzzParse parses any input. It is refused with a reason, or it is exported unchanged and makes a valid request.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`"Hello"`, `[]`, `{}`, `{"input":[]}`, `{"input":"a","instructions":""}`, `{"error":{"message":"a"}}`,
		`[{"role":"user","content":null}]`, `[{"role":"assistant","content":""},{"type":"reasoning","summary":[]}]`,
		`[{"type":"function_call","call_id":null,"name":"f","arguments":"{"},{"type":"function_call_output","output":1e3}]`,
		`[{"type":"mcp_approval_request","id":"a","name":"f","arguments":""},{"type":"mcp_approval_response","approval_request_id":"a","approve":true}]`,
		`[{"type":"computer_call","call_id":"a","actions":[]},{"type":"computer_call_output","call_id":"a","output":{"type":"computer_screenshot","file_id":"f"}}]`,
		`{"output":[{"type":"shell_call","call_id":"a","action":{}},{"type":"shell_call_output","call_id":"a","output":[{"stdout":"","stderr":""}]}],"status":"completed"}`,
	} {
		f.Add([]byte(seed))
	}
	for _, name := range []string{"conversation.json", "tools.json", "response.json"} {
		f.Add(testdata(f, name))
	}
	d := openairesponses.New()
	f.Fuzz(func(t *testing.T, raw []byte) {
		split, err := d.Split(raw)
		if err == nil {
			d.Validate(split, dialect.Request)
		}
		parsed, err := d.Parse(raw)
		if err != nil {
			refused := &dialect.InputError{}
			require.ErrorAs(t, err, &refused)
			return
		}
		asWritten, err := d.Render(parsed.Messages, dialect.RenderOptions{AsWritten: true})
		require.NoError(t, err)
		dialecttest.RequireSame(t, d, split, &asWritten.List)
		dialecttest.RequireRendered(t, d, dialecttest.ViewOf(parsed.Messages))
	})
}
