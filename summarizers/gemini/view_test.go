package gemini_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/internal/wire/wiretest"
	"github.com/compactord/compactord/summarizers/llm"
)

func TestOnView(t *testing.T) {
	t.Parallel()
	const (
		odd     = `{ "parts":[ {"text":"A <b> & c\u003e 日本 \u2028 "} ],"role":"user" }`
		model   = `{"role":"model","parts":[{"functionCall":{"name":"f","args":{"b":1.0,"a":12345678901234567890}},"thoughtSignature":"a+/b=="}]}`
		results = `{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"x":"<"}}}]}`
		snake   = `{"role":"user","parts":[{"function_response":{"name":"f","response":{}}}]}`
		closing = `{"role":"user","parts":[{"text":"Sum up."}]}`
		system  = `{"parts":[ {"text":"<sys>"}]}`
		tools   = `[ {"functionDeclarations":[{"name":"f","parameters":{"z":1,"a":2}}]} ]`
	)
	for name, c := range map[string]struct {
		contents []string
		want     string
	}{
		"a model's last":       {[]string{odd, model}, `[` + odd + `,` + model + `,` + closing + `]`},
		"results last":         {[]string{odd, model, results}, `[` + odd + `,` + model + `,` + results + `,` + closing + `]`},
		"results in snakecase": {[]string{odd, model, snake}, `[` + odd + `,` + model + `,` + snake + `,` + closing + `]`},
		"the user's text last": {[]string{odd}, `[{ "parts":[ {"text":"A <b> & c\u003e 日本 \u2028 "} ,{"text":"Sum up."}],"role":"user" }]`},
		"nothing":              {nil, `[` + closing + `]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			view := &summarizers.View{System: []json.RawMessage{json.RawMessage(system)}, Tools: json.RawMessage(tools)}
			for _, content := range c.contents {
				view.Messages = append(view.Messages, json.RawMessage(content))
			}
			_, seen, err := ask(t, wiretest.Stream(whole), "", &llm.Completion{User: "Sum up.", View: view, MaxOutputTokens: 9})
			require.NoError(t, err)
			var body map[string]json.RawMessage
			require.NoError(t, json.Unmarshal([]byte(seen.Body), &body))
			wiretest.SameBytes(t, c.want, string(body["contents"]))
			wiretest.SameBytes(t, system, string(body["systemInstruction"]))
			wiretest.SameBytes(t, tools, string(body["tools"]))
			require.NotContains(t, body, "toolConfig")
		})
	}
}
