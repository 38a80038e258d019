package openaichat_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/dialecttest"
	"github.com/compactord/compactord/dialects/openaichat"
)

func FuzzParse(f *testing.F) {
	everything, err := os.ReadFile("testdata/everything.json")
	require.NoError(f, err)
	f.Add(everything)
	for _, seed := range []string{
		`[]`, ` {"role":"user","content":"hi"} `, `{"messages":[{"role":"system","content":[]}]}`,
		`{"choices":[{"message":{"role":"assistant","content":null,"refusal":"no"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3}}`,
		`{"error":{"message":"no"}}`, `{"choices":[{"delta":{}}]}`, `[null]`, `{"role":"user"`, "\xff",
		`[{"role":"user","content":"\ud83d","x":"` + "\xff\xfe" + `"}]`,
		`[{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"a b","arguments":[1]}}]},{"role":"tool","tool_call_id":"a","content":[{"type":"image_url","image_url":"x"}]}]`,
		`[{"role":"assistant","function_call":{"name":"f","arguments":"{"}},{"role":"function","name":"f","content":null}]`,
	} {
		f.Add([]byte(seed))
	}
	d := openaichat.New()
	f.Fuzz(func(t *testing.T, raw []byte) {
		list, splitErr := d.Split(raw)
		if splitErr == nil {
			d.Validate(list, dialect.Request)
		}
		parsed, err := d.Parse(raw)
		if err != nil {
			refused := &dialect.InputError{}
			require.ErrorAs(t, err, &refused)
			return
		}
		require.NoError(t, splitErr)
		requireKept(t, raw)
		dialecttest.RequireRendered(t, d, dialecttest.ViewOf(parsed.Messages))
	})
}
