package sessions_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage/anystore"
)

// Children are listed with their parent, read from it, and deleted with it if that is wanted.
func TestChildrenOfASession(t *testing.T) {
	d := programtest.Serving(t, "--listen", "127.0.0.1:0", "--store", anystore.Place(t))
	on := func(args ...string) programtest.Answer { return programtest.Ran(t, append(args, "--addr", d.Addr)...) }
	on("import", sample.File(t, "talk.jsonl", sample.Talk(2)), "--session", "s", "-q").Ends(t, terminal.ExitDone)
	daemon := compactordv1.NewSessionServiceClient(programtest.Connection(t, d.Addr))
	for _, id := range []string{"a", "b"} {
		_, err := daemon.ForkSession(t.Context(), &compactordv1.ForkSessionRequest{
			SessionId: "s", NewSessionId: id, Title: "search", Child: &compactordv1.ChildContext{
				Sees: compactordv1.ChildSees_CHILD_SEES_EVERYTHING,
			},
		})
		require.NoError(t, err)
	}
	_, err := daemon.EndChild(t.Context(), &compactordv1.EndChildRequest{SessionId: "b", Result: "found it"})
	require.NoError(t, err)

	listed := on("sessions").Ends(t, terminal.ExitDone).Out
	require.Regexp(t, `(?m)^SESSION +MESSAGES +COMPACTED +CHANGED +PARENT +TITLE$`, listed)
	require.Regexp(t, `(?m)^a +8 .* s +search$`, listed)
	require.Regexp(t, `(?m)^b +8 .* s \(ended\) +search$`, listed)
	require.Regexp(t, `(?m)^s +9 .* - `, listed)
	listed = on("sessions", "--parent", "s").Ends(t, terminal.ExitDone).Out
	require.Contains(t, listed, "\na ")
	require.NotContains(t, listed, "\ns ")
	require.Contains(t, on("sessions", "--parent", "a").Ends(t, terminal.ExitDone).Out, "There are no sessions.")
	on("sessions", "--parent", "nope").Ends(t, terminal.ExitFailed).Says(t, "(SESSION_NOT_FOUND)")
	require.Contains(t, on("records", "--session", "b", "--kind", "child-end").Ends(t, terminal.ExitDone).Out,
		"end of the child, with a result of 8 bytes")

	own := on("recall", "#0", "--session", "s").Ends(t, terminal.ExitDone).Out
	require.Equal(t, own, on("recall", "a#0", "--session", "s").Ends(t, terminal.ExitDone).Out)
	on("recall", "s#0", "--session", "a").Ends(t, terminal.ExitFailed).Says(t, "(SESSION_NOT_FOUND)")
	require.Contains(t, on("search", "found", "--session", "s").Ends(t, terminal.ExitDone).Out, "#8.0")
	require.Contains(t, on("search", own[:4], "--session", "s", "--children", "--limit", "0").Ends(t, terminal.ExitDone).Out, "\na#")

	on("delete", "--session", "s", "--children", "refuse", "--yes").Ends(t, terminal.ExitFailed).Says(t, "(HAS_CHILDREN)")
	require.Equal(t, "Deleted session s with 9 messages, its children (2) and all sessions below them.\n",
		on("delete", "--session", "s", "--children", "delete", "--yes").Ends(t, terminal.ExitDone).Out)
	require.Contains(t, on("sessions").Ends(t, terminal.ExitDone).Out, "There are no sessions.")
	require.Equal(t, terminal.ExitDone, d.Stop())
}
