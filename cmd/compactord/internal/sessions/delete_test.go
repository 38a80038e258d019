package sessions_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/storage/anystore"
)

func TestDelete(t *testing.T) {
	store := anystore.Place(t)
	on := func(args ...string) []string { return append(args, "--session", "s", "--store", store) }
	imported := func() {
		programtest.Ran(t, on("import", sample.File(t, "talk.jsonl", sample.Talk(2)), "-q")...).Ends(t, terminal.ExitDone)
	}
	imported()
	programtest.Ran(t, on("delete")...).Ends(t, terminal.ExitUsage).Says(t, "nobody can be asked here").
		Says(t, "\nTo delete it: compactord delete --session s --store "+terminal.Quoted(store)+" --yes\n")
	asked(t, "n\n", on("delete")...).Ends(t, terminal.ExitFailed).
		Says(t, "Delete session s with 8 messages for ever? [y/N] ").Says(t, "compactord: nothing was changed\n")
	programtest.Ran(t, on("view")...).Ends(t, terminal.ExitDone)
	require.Equal(t, "Deleted session s with 8 messages.\n", asked(t, "y\n", on("delete")...).Ends(t, terminal.ExitDone).Out)
	programtest.Ran(t, on("view")...).Ends(t, terminal.ExitFailed).Says(t, "(SESSION_NOT_FOUND)")
	programtest.Ran(t, on("delete", "--yes")...).Ends(t, terminal.ExitFailed).Says(t, "(SESSION_NOT_FOUND)")
	imported()
	sample.Document(t, programtest.Ran(t, on("delete", "--yes", "--json")...).Ends(t, terminal.ExitDone).Out)

	d := programtest.Serving(t, "--listen", "127.0.0.1:0", "--store", anystore.Place(t))
	programtest.Ran(t, "import", sample.File(t, "talk.jsonl", sample.Talk(2)), "--session", "s", "--addr", d.Addr, "-q").Ends(t, terminal.ExitDone)
	programtest.Ran(t, "delete", "--session", "s", "--addr", d.Addr, "-y").Ends(t, terminal.ExitDone)
	sample.Contains(t, programtest.Ran(t, "sessions", "--addr", d.Addr).Ends(t, terminal.ExitDone).Out, "There are no sessions.")
	require.Equal(t, terminal.ExitDone, d.Stop())
}
