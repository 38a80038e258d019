package gemini_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/dialecttest"
	"github.com/compactord/compactord/dialects/gemini"
)

func TestSignatures(t *testing.T) {
	t.Parallel()
	const signed = `"thoughtSignature":"YQ=="`
	call := func(id, more string) string {
		return `{"functionCall":{"id":"` + id + `","name":"ls","args":{}}` + more + `}`
	}
	answers := func(ids ...string) string {
		var parts []string
		for _, id := range ids {
			parts = append(parts, fmt.Sprintf(`{"functionResponse":{"id":%q,"name":"ls","response":{"output":"a"}}}`, id))
		}
		return `{"role":"user","parts":[` + strings.Join(parts, ",") + `]}`
	}
	skip := `,"thoughtSignature":"skip_thought_signature_validator"`
	unsigned := helloJSON + `,` + model(call("1", "")) + `,` + answers("1")
	for _, c := range []struct{ name, model, given, want string }{
		{"an older model's own list", "", unsigned, unsigned},
		{"an older model by its name", "models/gemini-2.5-pro", unsigned, unsigned},
		{
			"a newer model that lost it", "gemini-3-pro", unsigned,
			helloJSON + `,` + model(call("1", skip)) + `,` + answers("1"),
		},
		{
			"from the first signature on", "", unsigned + `,` + model(call("2", ","+signed)) + `,` + answers("2") + `,` + model(call("3", "")) + `,` + answers("3"),
			unsigned + `,` + model(call("2", ","+signed)) + `,` + answers("2") + `,` + model(call("3", skip)) + `,` + answers("3"),
		},
		{
			"only the first of parallel calls", "", helloJSON + `,` + model(call("1", ","+signed)+`,`+call("2", "")) + `,` + answers("1", "2"),
			helloJSON + `,` + model(call("1", ","+signed)+`,`+call("2", "")) + `,` + answers("1", "2"),
		},
		{
			"a text's signature stays on the text", "", helloJSON + `,` + model(`{"text":"",`+signed+`},`+call("1", "")) + `,` + answers("1"),
			helloJSON + `,` + model(`{"text":"",`+signed+`},`+call("1", skip)) + `,` + answers("1"),
		},
		{
			"that of a thought goes with it", "", helloJSON + `,` + model(`{"text":"a","thought":true,`+signed+`},`+call("1", "")) + `,` + answers("1"),
			unsigned,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			parsed := parse(t, `[`+c.given+`]`)
			for _, m := range parsed.Messages {
				if m.GetParts()[0].GetToolCall() != nil {
					m.Model = c.model
				}
			}
			r := dialecttest.RequireRendered(t, gemini.New(), parsed.Messages)
			require.JSONEq(t, `{"contents":[`+c.want+`]}`, string(gemini.New().Document(&r.List)))
		})
	}
}
