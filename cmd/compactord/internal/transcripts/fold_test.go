package transcripts_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

// The sample has turns of four messages.
func TestCompactFolds(t *testing.T) {
	sample.TemporaryFolder(t)
	path := sample.TalkFile(t)
	r := programtest.Ran(t, "compact", path, "--fold", "4-11", "--fold-text", "Both steps are done.", "--view").Ends(t, terminal.ExitDone)
	sample.Contains(t, r.Out, "  Folded      8 messages, ")
	sample.Contains(t, r.Out, "#4 to #11 user (folded)")
	sample.Contains(t, r.Out, "Both steps are done.")

	for flag, says := range map[string]string{"4": "FIRST-LAST", "a-b": "FIRST-LAST", "4-b": "FIRST-LAST", "-4": "FIRST-LAST"} {
		programtest.Ran(t, "compact", path, "--fold="+flag).Ends(t, terminal.ExitUsage).Says(t, says)
	}
	programtest.Ran(t, "compact", path, "--fold-text", "x").Ends(t, terminal.ExitUsage).Says(t, "--fold-text needs --fold")
	programtest.Ran(t, "compact", path, "--fold", "4-11", "--reason", "overflow").Ends(t, terminal.ExitUsage).Says(t, "--reason manual")
	r = programtest.Ran(t, "compact", path, "--fold", "5-", "--fold-text", "x")
	require.NotEqual(t, terminal.ExitDone, r.Code)
	r.Says(t, "begin within one turn and end within another")
}
