package transcripts_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

func TestTokens(t *testing.T) {
	sample.TemporaryFolder(t)
	path := sample.File(t, "talk.jsonl", sample.Talk(5))
	r := programtest.Ran(t, "tokens", path).Ends(t, terminal.ExitDone)
	sample.Contains(t, r.Out, "tokens, estimated by chars4\n")
	r = programtest.Ran(t, "tokens", path, "--estimator", "o200k_base", "--messages").Ends(t, terminal.ExitDone)
	sample.Contains(t, r.Out, "tokens, exact by o200k_base\n")
	sample.Contains(t, r.Out, "   #19 ")
	doc := sample.Document(t, programtest.RanOn(t, strings.NewReader("hello world"), "tokens", "--text-file", "-", "--estimator", "cl100k_base", "--json").
		Ends(t, terminal.ExitDone).Out)
	require.InDelta(t, 2, sample.At(t, doc, "tokens"), 0)
	programtest.Ran(t, "tokens", path, "--estimator", "calibrated").Ends(t, terminal.ExitUsage)
	programtest.Ran(t, "tokens", path, "--estimator", "words").Ends(t, terminal.ExitUsage)
	programtest.Ran(t, "tokens", "--text-file", filepath.Join(t.TempDir(), "none")).Ends(t, terminal.ExitFailed).Says(t, "no such file")
}

// `tokens --text "hello"` used to look for a file named hello.
func TestTokensTakesTextAsClassifyDoes(t *testing.T) {
	sample.TemporaryFolder(t)
	doc := sample.Document(t, programtest.Ran(t, "tokens", "--text", "hello world", "--estimator", "cl100k_base", "--json").Ends(t, terminal.ExitDone).Out)
	require.InDelta(t, 2, sample.At(t, doc, "tokens"), 0)
	require.InDelta(t, 11, sample.At(t, doc, "text_bytes"), 0)
	require.Contains(t, programtest.Ran(t, "tokens", "--text", "").Ends(t, terminal.ExitDone).Out, "The text: 0 tokens")

	path := sample.File(t, "notes.txt", "four letters and more")
	programtest.Ran(t, "tokens", "--text", path).Ends(t, terminal.ExitDone).
		Says(t, "The text itself is counted. For the file of that name: compactord tokens --text-file "+path+"\n")
	sample.Contains(t, programtest.Ran(t, "tokens", "--text-file", path).Ends(t, terminal.ExitDone).Out, "21 bytes")
	talk := sample.File(t, "talk.jsonl", sample.Talk(1))
	for _, args := range [][]string{
		{"--text", "x", "--text-file", path},
		{"--text", "x", talk},
		{"--text", "x", "--session", "s"},
		{"--text", "x", "--addr", "127.0.0.1:1"},
		{"--text-file", path, "--nth", "1"},
		{"--text", "x", "--messages"},
		{"--text-file", ""},
		{talk, "--estimator", "calibrated"},
	} {
		r := programtest.Ran(t, append([]string{"tokens"}, args...)...).Ends(t, terminal.ExitUsage)
		require.Empty(t, r.Out, "%v", args)
	}
}
