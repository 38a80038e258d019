package sessions_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

func TestSearch(t *testing.T) {
	sample.TemporaryFolder(t)
	path := sample.File(t, "talk.jsonl", sample.Talk(30))
	r := programtest.Ran(t, "search", "failing NUMBER 29", path).Ends(t, terminal.ExitDone)
	require.Equal(t, "#116.0  user  line 1: Fix the failing test number 29 in pkg/parser.go.\n", r.Out)
	r = programtest.Ran(t, "search", "-e", `parse1[0-2]\(`, path, "--role", "tool", "--newest-first").Ends(t, terminal.ExitDone)
	require.Equal(t, []string{"#50.0.0", "#46.0.0", "#42.0.0"}, sample.FirstWords(r.Out))
	r = programtest.Ran(t, "search", "test", path, "--limit", "3").Ends(t, terminal.ExitDone).Says(t, "There are more. All of them: compactord search test "+path+" --limit 0\n")
	require.Len(t, sample.FirstWords(r.Out), 3)
	require.Len(t, sample.FirstWords(programtest.Ran(t, "search", "test", path, "--limit", "0").Ends(t, terminal.ExitDone).Out), 60)
	programtest.Ran(t, "search", "nowhere", path).Ends(t, terminal.ExitNothing)
	programtest.Ran(t, "search", "-e", "(", path).Ends(t, terminal.ExitUsage)
	programtest.Ran(t, "search", "x", path, "--role", "robot").Ends(t, terminal.ExitUsage)
	on := programtest.FiveTurns(t)
	on("revert", "--session", "s", "--turns", "1").Ends(t, terminal.ExitDone)
	sample.Contains(t, on("search", "number 4", "--session", "s", "--state", "put-aside").Ends(t, terminal.ExitDone).Out, "#16.0  user, put aside  line 1: ")
	on("search", "number 4", "--session", "s", "--state", "active").Ends(t, terminal.ExitNothing)
}
