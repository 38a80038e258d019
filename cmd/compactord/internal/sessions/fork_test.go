package sessions_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

func TestFork(t *testing.T) {
	on := programtest.FiveTurns(t)
	on("checkpoint", "--session", "s").Ends(t, terminal.ExitDone)
	sample.Contains(t, on("fork", "--session", "s", "--as", "f", "--to-point", "8").Ends(t, terminal.ExitDone).Out,
		"Forked session s at point 8 into session f: 8 messages, ")
	sample.Contains(t, on("fork", "--session", "s", "--as", "h").Ends(t, terminal.ExitDone).Out,
		"the policy of session h names no context window. If it has 200,000 tokens: compactord update --context-window 200000 --session h --store ")
	sample.Contains(t, on("fork", "--session", "s", "--as", "g", "--to-checkpoint", "1").Ends(t, terminal.ExitDone).Out, ": 20 messages, ")
	doc := sample.Document(t, on("fork", "--session", "s", "--json").Ends(t, terminal.ExitDone).Out)
	require.Equal(t, "s", sample.At(t, doc, "session", "forked_from", "session_id"))
	on("fork", "--session", "s", "--as", "f").Ends(t, terminal.ExitFailed).Says(t, "(SESSION_EXISTS)")
	on("fork", "--session", "g", "--as", "of-g").Ends(t, terminal.ExitDone)
	on("child", "--session", "g", "--as", "child-of-g").Ends(t, terminal.ExitDone)
	require.Regexp(t, `(?s)^SESSION[^\n]*\nof-g [^\n]*\n$`, on("sessions", "--forked-from", "g").Ends(t, terminal.ExitDone).Out)
	require.Contains(t, on("sessions", "--forked-from", "of-g").Ends(t, terminal.ExitDone).Out, "There are no sessions.")
	on("sessions", "--forked-from", "nope").Ends(t, terminal.ExitFailed).Says(t, "(SESSION_NOT_FOUND)")
	on("fork", "--session", "s", "--to-point", "8", "--to-checkpoint", "1").Ends(t, terminal.ExitUsage)
	sample.Contains(t, on("check").Ends(t, terminal.ExitDone).Out, "sound")
}
