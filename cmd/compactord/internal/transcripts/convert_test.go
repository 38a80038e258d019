package transcripts_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/dialects"
)

// In its own dialect a transcript comes out unchanged, and in another one as a valid list.
func TestConvert(t *testing.T) {
	sample.TemporaryFolder(t)
	path := sample.File(t, "talk.jsonl", `{"role":"system","content":"Be brief."}`+"\n"+sample.Talk(3))
	r := programtest.Ran(t, "convert", path, "--to", "openai_chat", "-q").Ends(t, terminal.ExitDone)
	want := strings.Split(`{"role":"system","content":"Be brief."}`+"\n"+strings.TrimSpace(sample.Talk(3)), "\n")
	have := strings.Split(strings.TrimSpace(r.Out), "\n")
	require.Len(t, have, len(want))
	for i := range want {
		require.JSONEq(t, want[i], have[i])
	}
	for _, d := range dialects.All() {
		converted := programtest.Ran(t, "convert", path, "--to", d.Name(), "-q").Ends(t, terminal.ExitDone).Out
		programtest.RanOn(t, strings.NewReader(converted), "validate", "-", "--dialect", d.Name(), "--history").Ends(t, terminal.ExitDone)
		back := programtest.RanOn(t, strings.NewReader(converted), "convert", "-", "--to", "openai_chat", "-q").Ends(t, terminal.ExitDone).Out
		require.Equal(t, 1+4*3, strings.Count(back, "\n"), "%s: %s", d.Name(), back)
		sample.Contains(t, back, "Be brief.")
		sample.Contains(t, back, `"name":"read_file"`)
	}
	markdown := programtest.Ran(t, "convert", path, "--to", "markdown").Ends(t, terminal.ExitDone).Out
	sample.Contains(t, markdown, "## #0 system\n\nBe brief.\n")
	sample.Contains(t, markdown, "Calls `read_file`:\n\n```json\n{\"path\":\"pkg/parser_0.go\"}\n```\n")
	programtest.Ran(t, "convert", path, "--to", "html").Ends(t, terminal.ExitUsage).Says(t, "there is no dialect")
	programtest.Ran(t, "convert", sample.File(t, "empty.json", "[]"), "--to", "gemini").Ends(t, terminal.ExitNothing)
}
