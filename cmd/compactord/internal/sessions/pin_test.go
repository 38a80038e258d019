package sessions_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

func TestPins(t *testing.T) {
	on := programtest.FiveTurns(t)
	sample.Contains(t, on("pin", "--list", "--session", "s").Ends(t, terminal.ExitDone).Out, "Session s has no pinned messages.\n")
	r := on("pin", "2", "#0", "--session", "s").Ends(t, terminal.ExitDone)
	sample.Contains(t, r.Out, "Pinned 3 messages of session s: #0 #1 #2. The context holds ")
	on("pin", "2", "--session", "s").Ends(t, terminal.ExitNothing).Says(t, "pinned already")
	on("compact", "--session", "s", "--keep-recent-tokens", "100").Ends(t, terminal.ExitDone)
	sample.Contains(t, on("view", "--session", "s", "--messages").Ends(t, terminal.ExitDone).Out, "#2 tool (pinned)")
	r = on("pin", "--list", "--session", "s").Ends(t, terminal.ExitDone)
	require.Equal(t, []string{"MESSAGE", "#0", "#1", "#2"}, sample.FirstWords(r.Out))
	require.Regexp(t, `\n#0 +user +12 +Fix the failing test number 0 in pkg/parser.go.\n`, r.Out)
	listed := sample.Elements(t, sample.Document(t, on("pin", "--list", "--session", "s", "--json").Ends(t, terminal.ExitDone).Out), "messages")
	require.Len(t, listed, 3)
	require.Equal(t, "MESSAGE_STATE_COVERED", sample.At(t, listed[0], "state"))
	sample.Contains(t, on("pin", "1", "--session", "s", "--remove").Ends(t, terminal.ExitDone).Out, "Unpinned 2 messages of session s: #1 #2.")
	on("pin", "99", "--session", "s").Ends(t, terminal.ExitFailed).Says(t, "(CONTENT_NOT_FOUND)")
	on("pin", "--session", "s").Ends(t, terminal.ExitUsage)
	for _, wrong := range [][]string{
		{"--", "-1"}, {"--", "+1"}, {"#-1"}, {"x"}, {""}, {"4294967296"}, {"2.0"}, {"--list", "2"}, {"--list", "--remove"},
	} {
		on(append([]string{"pin", "--session", "s"}, wrong...)...).Ends(t, terminal.ExitUsage)
	}
}
