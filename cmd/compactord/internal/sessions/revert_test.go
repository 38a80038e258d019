package sessions_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

func TestGoingBack(t *testing.T) {
	on := programtest.FiveTurns(t)
	r := on("checkpoint", "--session", "s", "--title", "five turns").Ends(t, terminal.ExitDone)
	sample.Contains(t, r.Out, "Checkpoint 1 of session s, at point 21.\n"+
		"To go back there: compactord revert --to-checkpoint 1 --session s --store ")

	r = on("revert", "--session", "s", "--turns", "2").Ends(t, terminal.ExitDone)
	sample.Contains(t, r.Out, "Reverted session s to point 12: 8 messages put aside, ")
	sample.Contains(t, r.Out, "The first request put aside is #12: compactord recall '#12' --session s --store ")
	sample.Contains(t, r.Out, "To undo this: compactord undo --session s --store ")
	require.Equal(t, "Fix the failing test number 3 in pkg/parser.go.", on("recall", "#12", "--session", "s").Ends(t, terminal.ExitDone).Out)

	r = on("checkpoint", "--session", "s", "--list").Ends(t, terminal.ExitDone)
	sample.Contains(t, r.Out, "put aside  five turns\n")
	on("revert", "--session", "s", "--to-checkpoint", "1").Ends(t, terminal.ExitFailed).Says(t, "(CHECKPOINT_PUT_ASIDE)")
	on("revert", "--session", "s", "--to-checkpoint", "7").Ends(t, terminal.ExitFailed).Says(t, "(CHECKPOINT_NOT_FOUND)")
	on("revert", "--session", "s", "--to-point", "4000").Ends(t, terminal.ExitUsage).Says(t, "(POINT_OUT_OF_RANGE)")

	sample.Contains(t, on("undo", "--session", "s").Ends(t, terminal.ExitDone).Out, "Undone: reverted session s to point 21: 2,")
	doc := sample.Document(t, on("view", "--session", "s", "--json").Ends(t, terminal.ExitDone).Out)
	require.InDelta(t, 20, sample.At(t, doc, "messages"), 0)

	sample.Contains(t, on("clear", "--session", "s").Ends(t, terminal.ExitDone).Out, "Cleared session s: 20 messages put aside, 0 tokens in the context now.\n")
	on("clear", "--session", "s").Ends(t, terminal.ExitNothing).Says(t, "session s is clear already")
	on("revert", "--session", "s", "--turns", "1").Ends(t, terminal.ExitNothing)
	on("undo", "--session", "s").Ends(t, terminal.ExitDone)

	r = on("records", "--session", "s").Ends(t, terminal.ExitDone)
	for _, what := range []string{
		"change of policy", "checkpoint 1: five turns", "revert to point 12: 8 messages put aside", "revert to point 0",
	} {
		sample.Contains(t, r.Out, what)
	}
	r = on("revert", "--session", "s", "--turns", "1", "--message", "Leave test 4 alone.").Ends(t, terminal.ExitDone)
	sample.Contains(t, r.Out, "The model is told by message #20.\n")
	sample.Contains(t, on("view", "--session", "s", "--messages").Ends(t, terminal.ExitDone).Out, "Leave test 4 alone.")
	r = on("revert", "--session", "s", "--turns", "2", "--summarize", "--focus", "tests").Ends(t, terminal.ExitDone)
	sample.Contains(t, r.Out, "The model is told by message #21.\n")
}

func TestWhereToGoBackTo(t *testing.T) {
	on := programtest.FiveTurns(t)
	for _, args := range [][]string{
		{},
		{"--to-point", "1", "--turns", "1"},
		{"--to-checkpoint", "-1"},
		{"--to-point=-1"},
		{"--turns", "0"},
		{"--turns", "1", "--focus", "tests"},
		{"--turns", "1", "--summarize", "--message", "Hello."},
		{"--turns", "1", "--message", ""},
		{"--turns", "1", "--message", "  "},
	} {
		on(append([]string{"revert", "--session", "s"}, args...)...).Ends(t, terminal.ExitUsage)
	}
	on("revert", "--session", "nobody", "--turns", "1").Ends(t, terminal.ExitFailed).Says(t, "(SESSION_NOT_FOUND)")
	on("checkpoint", "--session", "s", "--list", "--announce").Ends(t, terminal.ExitUsage)
}

// A revert to the present point writes nothing, so that a later undo undoes the change before it.
func TestGoingBackToNow(t *testing.T) {
	on := programtest.FiveTurns(t)
	on("checkpoint", "--session", "s").Ends(t, terminal.ExitDone)
	r := on("revert", "--session", "s", "--to-checkpoint", "1").Ends(t, terminal.ExitNothing)
	r.Says(t, "compactord: nothing to do: session s is at point 21 already\n")
	require.Empty(t, r.Out)
	on("revert", "--session", "s", "--to-point", "21", "--summarize").Ends(t, terminal.ExitNothing)
	doc := sample.Document(t, on("revert", "--session", "s", "--to-point", "21", "--json").Ends(t, terminal.ExitNothing).Out)
	require.InDelta(t, 21, sample.At(t, doc, "point"), 0)
	require.Nil(t, doc["record"])
	on("undo", "--session", "s").Ends(t, terminal.ExitNothing)
	on("revert", "--session", "s", "--to-point", "21", "--message", "Mind the tests.").Ends(t, terminal.ExitDone)
}

// A revert reports its effect on the compaction in effect, which people may not expect.
func TestGoingBackOverACompaction(t *testing.T) {
	on := programtest.FiveTurns(t)
	on("compact", "--session", "s", "--keep-recent-tokens", "100").Ends(t, terminal.ExitDone)
	r := on("revert", "--session", "s", "--turns", "1").Ends(t, terminal.ExitDone)
	require.Regexp(t, `\nThe compaction \S+ is undone: nothing is summarized now\.\n`, r.Out)
	require.Regexp(t, `\nThe compaction \S+ is in effect again\.\n`, on("undo", "--session", "s").Ends(t, terminal.ExitDone).Out)
	require.NotContains(t, on("revert", "--session", "s", "--turns", "1", "--json").Ends(t, terminal.ExitDone).Out, "The compaction")
	require.NotContains(t, on("revert", "--session", "s", "--turns", "1").Ends(t, terminal.ExitDone).Out, "The compaction")
}
