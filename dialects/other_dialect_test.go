package dialects_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects"
	"github.com/compactord/compactord/dialects/dialect"
)

// TestCallsOfAnotherDialectAreNotLost gives each dialect the calls and results of all others, after messages of the user
// that are the same in all but Gemini's. They were kept, and no view showed them.
func TestCallsOfAnotherDialectAreNotLost(t *testing.T) {
	t.Parallel()
	written := map[string]map[string]string{
		"openai_chat": {
			"a call":   `{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]}`,
			"a result": `{"role":"tool","tool_call_id":"1","content":"a"}`,
		},
		"openai_responses": {
			"a call":              `{"type":"function_call","call_id":"1","name":"f","arguments":"{}"}`,
			"a result":            `{"type":"function_call_output","call_id":"1","output":"a"}`,
			"a text of the model": `{"role":"assistant","content":[{"type":"output_text","text":"a"}]}`,
			"a text of the user":  `{"role":"user","content":[{"type":"input_text","text":"a"}]}`,
		},
		"anthropic": {
			"a call":   `{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","input":{}}]}`,
			"a result": `{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"a"}]}`,
		},
		"gemini": {
			"a call":   `{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]}`,
			"a result": `{"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}}]}`,
		},
	}
	require.Len(t, written, len(dialects.All()))
	for _, given := range dialects.All() {
		for name, messages := range written {
			if name == given.Name() {
				continue
			}
			for what, message := range messages {
				t.Run(what+" of "+name+" in "+given.Name(), func(t *testing.T) {
					t.Parallel()
					plain := `{"role":"user","content":"a"}`
					if given.Name() == "gemini" {
						plain = `{"role":"user","parts":[{"text":"a"}]}`
					}
					_, err := given.Parse([]byte("[" + plain + "," + plain + "," + message + "]"))
					refused := &dialect.InputError{}
					belongs := name
					if given.Name() == "gemini" && strings.Contains(message, `"content":[`) {
						belongs = "another dialect"
					}
					require.ErrorAs(t, err, &refused)
					require.Equal(t, dialect.InputOtherDialect, refused.Rule)
					require.Equal(t, 2, refused.Message)
					require.ErrorContains(t, err, "belongs to "+belongs+", but the messages are given as "+given.Name())
				})
			}
		}
	}
}
