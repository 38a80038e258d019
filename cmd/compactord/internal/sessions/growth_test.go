package sessions_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/storage/anystore"
)

// compactedSession creates a store with a session of many turns that was compacted and then continued.
func compactedSession(t *testing.T) func(args ...string) programtest.Answer {
	t.Helper()
	store := anystore.Place(t)
	on := func(args ...string) programtest.Answer { return programtest.Ran(t, append(args, "--store", store)...) }
	on("import", sample.File(t, "talk.jsonl", sample.Talk(60)), "--session", "s", "-q").Ends(t, terminal.ExitDone)
	on("compact", "--session", "s", "--keep-recent-tokens", "2000", "-q").Ends(t, terminal.ExitDone)
	return on
}

const grows = "The context grows from "

// A revert before the last two turns used to double the context without a word, since it undid the compaction too.
func TestRevertThatUndoesACompactionSaysSoBefore(t *testing.T) {
	on := compactedSession(t)
	r := on("revert", "--session", "s", "--turns", "12").Ends(t, terminal.ExitDone)
	r.Says(t, "This undoes:\n  compaction: summarized #0 to #").Says(t, grows)
	require.Less(t, strings.Index(r.Err, "This undoes:"), strings.Index(r.Err, grows))

	// Restoring the compaction makes the context smaller, and undoing that makes it grow again.
	r = on("undo", "--session", "s").Ends(t, terminal.ExitDone)
	require.NotContains(t, r.Err, grows)
	on("undo", "--session", "s", "--json").Ends(t, terminal.ExitDone).Says(t, grows)
	require.NotContains(t, on("undo", "--session", "s").Ends(t, terminal.ExitDone).Err, grows)
	on("revert", "--session", "s", "--to-point", "12", "--yes").Ends(t, terminal.ExitDone)

	// A clear keeps only the instructions, so the context cannot grow.
	require.NotContains(t, on("clear", "--session", "s").Ends(t, terminal.ExitDone).Err, grows)
	require.NotContains(t, on("undo", "--session", "s").Ends(t, terminal.ExitDone).Err, grows, "what was cleared is wanted back")
}

// Undoing a prune shows hidden results again, so that the context grows.
func TestUndoOfAPruneSaysThatTheContextGrows(t *testing.T) {
	store := anystore.Place(t)
	on := func(args ...string) programtest.Answer { return programtest.Ran(t, append(args, "--store", store)...) }
	on("import", sample.File(t, "long.jsonl", sample.Talk(300)), "--session", "s", "-q").Ends(t, terminal.ExitDone)
	on("prune", "--session", "s", "-q").Ends(t, terminal.ExitDone)
	on("undo", "--session", "s").Ends(t, terminal.ExitDone).Says(t, "This undoes:\n  prune: ").Says(t, grows)
}

// asked runs the program with a user who types an answer.
func asked(t *testing.T, typed string, args ...string) programtest.Answer {
	t.Helper()
	return programtest.RunWith(t.Context(), &api.App{Terminal: terminal.Terminal{Stdin: strings.NewReader(typed), Asks: true}}, args...)
}

func TestRevertThatGrowsTheContextAsks(t *testing.T) {
	store := anystore.Place(t)
	on := func(args ...string) []string { return append(args, "--session", "s", "--store", store) }
	programtest.Ran(t, on("import", sample.File(t, "talk.jsonl", sample.Talk(60)), "-q")...).Ends(t, terminal.ExitDone)
	programtest.Ran(t, on("compact", "--keep-recent-tokens", "2000", "-q")...).Ends(t, terminal.ExitDone)
	before := programtest.Ran(t, on("records", "--json", "-q")...).Ends(t, terminal.ExitDone).Out
	for _, typed := range []string{"n\n", "\n", "", "no thanks\n", "yesterday\n"} {
		r := asked(t, typed, on("revert", "--turns", "12")...).Ends(t, terminal.ExitFailed)
		r.Says(t, grows).Says(t, "Go on? [y/N] ").Says(t, "compactord: nothing was changed\n")
		require.Empty(t, r.Out)
	}
	require.Equal(t, before, programtest.Ran(t, on("records", "--json", "-q")...).Ends(t, terminal.ExitDone).Out)
	for _, typed := range []string{"y\n", " YES \n", "yes"} {
		sample.Contains(t, asked(t, typed, on("revert", "--turns", "12")...).Ends(t, terminal.ExitDone).Out, "Reverted session s")
		// The context does not grow, so the command does not ask.
		asked(t, "", on("undo")...).Ends(t, terminal.ExitDone)
	}
	require.NotContains(t, asked(t, "", on("undo", "-y")...).Ends(t, terminal.ExitDone).Err, "Go on?")
}
