package transcripts_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

func TestPrune(t *testing.T) {
	sample.TemporaryFolder(t)
	path := sample.File(t, "long.jsonl", sample.Talk(300))
	r := programtest.Ran(t, "prune", path).Ends(t, terminal.ExitDone)
	require.Contains(t, r.Out, "Pruned "+path)
	require.Contains(t, r.Out, "more\n")
	require.Contains(t, programtest.Ran(t, "prune", path, "--dry-run").Ends(t, terminal.ExitDone).Out, "Nothing was changed.")
	doc := sample.Document(t, programtest.Ran(t, "prune", path, "--json").Ends(t, terminal.ExitDone).Out)
	require.InDelta(t, 1200, sample.At(t, doc, "messages"), 0)
	require.Contains(t, sample.At(t, doc, "prune"), "edits")
	doc = sample.Document(t, programtest.Ran(t, "prune", sample.File(t, "short.jsonl", sample.Talk(2)), "--json").Ends(t, terminal.ExitNothing).Out)
	require.Contains(t, sample.At(t, doc, "skipped"), "reason")
}
