package rules_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/rules"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

func TestValidateIsALinter(t *testing.T) {
	lines := `{"role":"user","content":"Go."}
{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}
{"role":"user","content":"Never mind the secret."}
`
	r := programtest.Ran(t, "validate", sample.File(t, "bad.jsonl", lines), "--dialect", "anthropic").Ends(t, terminal.ExitFailed)
	require.Regexp(t, `^\S+bad.jsonl: message 1, part 0: anthropic.results-follow-calls: `, r.Out)
	require.NotContains(t, r.Out, "secret")
	r.Says(t, "breaks the rules of anthropic in 1 place")

	r = programtest.Ran(t, "validate", sample.File(t, "bad.jsonl", lines), "--dialect", "anthropic", "--json").Ends(t, terminal.ExitFailed)
	var document rules.ValidateJSON
	require.NoError(t, json.Unmarshal([]byte(r.Out), &document))
	require.Equal(t, "anthropic", document.Dialect)
	require.Equal(t, 3, document.Messages)
	require.Len(t, document.Violations, 1)
	require.Equal(t, 1, document.Violations[0].Message)

	ends := sample.File(t, "ends.jsonl", `{"role":"user","content":"Go."}`+"\n"+`{"role":"assistant","content":"Gone."}`)
	programtest.Ran(t, "validate", ends, "--dialect", "anthropic").Ends(t, terminal.ExitFailed)
	programtest.Ran(t, "validate", ends, "--dialect", "anthropic", "--history").Ends(t, terminal.ExitDone)
	programtest.Ran(t, "validate", sample.File(t, "no.json", `{"role":`), "--dialect", "gemini").Ends(t, terminal.ExitFailed).Says(t, "not valid JSON")
	programtest.Ran(t, "validate", sample.File(t, "no.json", " "), "--dialect", "gemini").Ends(t, terminal.ExitFailed).Says(t, "it is empty")
	programtest.Ran(t, "validate", sample.File(t, "bytes.json", "[{\"role\":\"user\",\"content\":\"a\xff\"}]"), "--dialect", "openai_chat").
		Ends(t, terminal.ExitFailed).Says(t, "not valid UTF-8")
	programtest.Ran(t, "validate", sample.File(t, "bom.json", "\xef\xbb\xbf"+`[{"role":"user","content":"a"}]`), "--dialect", "openai_chat").
		Ends(t, terminal.ExitDone)
}
