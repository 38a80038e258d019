package sessions_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

// The JSON list has the records of the checkpoints, also of those that a revert put aside.
func TestCheckpointsAsJSON(t *testing.T) {
	on := programtest.FiveTurns(t)
	for _, title := range []string{"one", "two"} {
		on("checkpoint", "--session", "s", "--title", title).Ends(t, terminal.ExitDone)
	}
	on("revert", "--session", "s", "--to-checkpoint", "1").Ends(t, terminal.ExitDone)
	doc := sample.Document(t, on("checkpoint", "--session", "s", "--list", "--json").Ends(t, terminal.ExitDone).Out)
	listed := sample.Elements(t, doc, "checkpoints")
	require.Len(t, listed, 2)
	for i, title := range []string{"one", "two"} {
		require.InDelta(t, i+1, sample.At(t, listed[i], "checkpoint", "id"), 0)
		require.Equal(t, title, sample.At(t, listed[i], "checkpoint", "title"))
		require.Equal(t, title == "two", sample.At(t, listed[i], "put_aside"))
	}
}

// Line breaks in a title add no rows to the table.
func TestTitlesStayInTheirLine(t *testing.T) {
	on := programtest.FiveTurns(t)
	const evil = "one\n2  21  forged\tcell\r\n\u2028x\u001b[2J"
	const harmless = "one 2  21  forged cell  x\uFFFD[2J\n"
	on("checkpoint", "--session", "s", "--title", evil).Ends(t, terminal.ExitDone)
	sample.Contains(t, on("checkpoint", "--session", "s", "--list").Ends(t, terminal.ExitDone).Out, "active  "+harmless)
	sample.Contains(t, on("records", "--session", "s").Ends(t, terminal.ExitDone).Out, "checkpoint 1: "+harmless)
	on("import", sample.File(t, "talk.jsonl", sample.Talk(1)), "--session", "titled", "--title", evil).Ends(t, terminal.ExitDone)
	sample.Contains(t, on("sessions").Ends(t, terminal.ExitDone).Out, harmless)
}
