package sessions_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/storage/anystore"
)

// Without a window no compaction ever comes due, and only the JSON said so.
func TestSessionsWithoutAWindowSayThatNothingCompacts(t *testing.T) {
	store := anystore.Place(t)
	for _, window := range []bool{false, true} {
		id, flags := "without", []string{}
		if window {
			id, flags = "with", []string{"--context-window", "200000"}
		}
		on := func(command ...string) {
			out := programtest.Ran(t, append(command, "--session", id, "--store", store)...).Ends(t, terminal.ExitDone).Out
			require.Equal(t, !window, strings.Contains(out, "o compaction comes due by itself"), "%s: %s", command[0], out)
		}
		on(append([]string{"import", sample.TalkFile(t)}, flags...)...)
		on("view")
		on("fork", "--as", id+"-2")
		on("compact")
		on("revert", "--turns", "1")
		on("undo")
		on("clear")
	}
}

// It did not say what one can do.
func TestCompactionThatIsRefusedAgainNamesUndo(t *testing.T) {
	store := anystore.Place(t)
	programtest.Ran(t, "import", sample.TalkFile(t), "--session", "s", "--store", store).Ends(t, terminal.ExitDone)
	compact := []string{"compact", "--session", "s", "--store", store}
	r := programtest.Ran(t, compact...).Ends(t, terminal.ExitDone)
	undo := "compactord undo --session s --store " + terminal.Quoted(store) + "\n"
	require.True(t, strings.HasSuffix(r.Out, "To undo this: "+undo), r.Out)
	programtest.Ran(t, compact...).Ends(t, terminal.ExitNothing).Says(t, "nothing was appended since the last compaction\n").Says(t, ": "+undo)
	programtest.Ran(t, append(compact, "--reason", "threshold")...).Ends(t, terminal.ExitNothing).
		Says(t, "\nTo compact all the same: compactord compact --session s --store "+terminal.Quoted(store)+"\n")
}

// Only the JSON had the warnings.
func TestForksAndChildrenShowWhatIsNotMeantInTheirPolicy(t *testing.T) {
	store := anystore.Place(t)
	on := func(command ...string) programtest.Answer {
		return programtest.Ran(t, append(command, "--session", "s", "--store", store)...).Ends(t, terminal.ExitDone)
	}
	const warning = "policy.max_output_tokens: the preset klaude never compacts"
	on("import", sample.TalkFile(t), "--preset", "klaude", "--context-window", "32000",
		"--max-output-tokens", "32000").Says(t, warning)
	require.Contains(t, on("fork", "--as", "f").Out, "\n"+warning)
	require.Contains(t, on("child", "--as", "c").Out, "\n"+warning)
}
