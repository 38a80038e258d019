package gemini_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func TestResultsAreRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, response, want string }{
		{"output", `{"output":"a"}`, `{"name":"ls","parts":[{"text":{"text":"a"}}]}`},
		{"result", `{"result":"a"}`, `{"name":"ls","parts":[{"text":{"text":"a"}}]}`},
		{"error", `{"error":"a"}`, `{"name":"ls","isError":true,"parts":[{"text":{"text":"a"}}]}`},
		{"object", `{"output": 1.0}`, `{"name":"ls","parts":[{"text":{"text":"{\"output\": 1.0}"}}]}`},
		{"error object", `{"error":{"code":5}}`, `{"name":"ls","isError":true,"parts":[{"text":{"text":"{\"error\":{\"code\":5}}"}}]}`},
		{"text and more", `{"output":"a","exit":0}`, `{"name":"ls","parts":[{"text":{"text":"{\"output\":\"a\",\"exit\":0}"}}]}`},
		{"bare text", `"a"`, `{"name":"ls","parts":[{"text":{"text":"a"}}]}`},
		{"nothing", `null`, `{"name":"ls"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := parse(t, `[{"role":"user","parts":[{"functionResponse":{"name":"ls","response":`+c.response+`}}]}]`).Messages[0]
			require.Equal(t, compactordv1.Role_ROLE_TOOL, m.GetRole())
			part := m.GetParts()[0]
			part.Attachments = nil
			requirePart(t, `{"toolResult":`+c.want+`}`, part)
		})
	}
}

func TestAContentOfResultsBecomesMessages(t *testing.T) {
	t.Parallel()
	parsed := parse(t, `[`+calls+`,{"role":"user","parts":[
		{"functionResponse":{"id":"1","name":"read","response":{}}},{"text":"and"},{"functionResponse":{"id":"2","name":"x","response":{}}}]}]`)
	require.Equal(t, []int{0, 1, 1, 1}, parsed.Positions)
	require.Equal(t, []compactordv1.Role{
		compactordv1.Role_ROLE_ASSISTANT, compactordv1.Role_ROLE_TOOL, compactordv1.Role_ROLE_TOOL, compactordv1.Role_ROLE_USER,
	}, roles(parsed.Messages))
	require.Equal(t, []dialect.Finding{{
		Rule: dialect.InputResultsOutOfOrder, Message: 1, Part: 0,
		Text: "results come after other parts; they were accepted as if they came first",
	}}, parsed.Findings)
}
