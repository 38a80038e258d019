package sessions_test

import (
	"testing"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

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
