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

func TestSessionOfAStore(t *testing.T) {
	store := anystore.Place(t)
	on := func(args ...string) programtest.Answer { return programtest.Ran(t, append(args, "--store", store)...) }
	on("import", sample.TalkFile(t), "--session", "s", "--title", "Long \x1b[31mtalk").Ends(t, terminal.ExitDone)
	require.Contains(t, on("view", "--session", "s").Ends(t, terminal.ExitDone).Out, "What the model sees of session s: 480 messages")
	r := on("compact", "--session", "s").Ends(t, terminal.ExitDone)
	require.Contains(t, r.Out, "Compacted session s.")
	require.Contains(t, r.Out, "of its source")
	on("compact", "--session", "s").Ends(t, terminal.ExitNothing).Says(t, "nothing was appended since the last compaction")
	on("prune", "--session", "s").Ends(t, terminal.ExitNothing)
	r = on("sessions").Ends(t, terminal.ExitDone)
	require.Contains(t, r.Out, "up to #")
	require.NotContains(t, r.Out, "\x1b")
	doc := sample.Document(t, on("sessions", "--json", "--changed", "--limit", "5").Ends(t, terminal.ExitDone).Out)
	sessions, ok := sample.At(t, doc, "sessions").([]any)
	require.True(t, ok)
	require.Len(t, sessions, 1)
	require.Equal(t, "s", sample.At(t, sessions[0], "session_id"))
	r = on("compact", "--session", "nope").Ends(t, terminal.ExitFailed).
		Says(t, "compactord: no session \"nope\" (SESSION_NOT_FOUND)\nTo list the sessions: compactord sessions --store "+terminal.Quoted(store)+"\n")
	require.NotContains(t, r.Err, "rpc error")
}

func TestNoSessions(t *testing.T) {
	store := anystore.File(t)
	programtest.Ran(t, "sessions", "--store", store).Ends(t, terminal.ExitFailed).Says(t, "there is no store "+store)
	programtest.Ran(t, "view", "--session", "s", "--store", store).Ends(t, terminal.ExitFailed).Says(t, "there is no store "+store)
	require.NoFileExists(t, store, "looking makes no store")
	programtest.Ran(t, "check", "--store", store).Ends(t, terminal.ExitFailed).Says(t, "there is no store "+store)
	for what, content := range map[string]string{
		"a text file": "# Überschrift\n", "a database of SQLite": "SQLite format 3\x00\x10", "compressed by gzip": "\x1f\x8b\x08\x00",
	} {
		programtest.Ran(t, "check", "--store", sample.File(t, "x.db", content)).Ends(t, terminal.ExitFailed).
			Says(t, "x.db is no store of compactord: it is "+what+"\nName another file: ")
	}
	for _, content := range []string{"\x00\x01\x02", "text\xff and more", strings.Repeat("\x00", 9000)} {
		programtest.Ran(t, "check", "--store", sample.File(t, "x.db", content)).Ends(t, terminal.ExitFailed).
			Says(t, "is damaged, or not a store of compactord: store corrupt: ")
	}
}
