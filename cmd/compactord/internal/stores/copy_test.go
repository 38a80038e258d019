package stores_test

import (
	"bufio"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage/anystore"
	"github.com/compactord/compactord/storage/postgres"
	"github.com/compactord/compactord/storage/postgres/postgrestest"
)

// all is all that a store has of a session: its row, messages, records and requests.
func all(t *testing.T, store, id string, more ...string) string {
	t.Helper()
	out := programtest.Ran(t, append([]string{"export", "--session", id, "--store", store}, more...)...).Ends(t, terminal.ExitDone).Out
	require.Contains(t, out, `"message"`)
	return out
}

// viewed asks a daemon for the view behind a token.
func viewed(t *testing.T, addr, session, token string) *compactordv1.GetLLMViewResponse {
	t.Helper()
	answer, err := compactordv1.NewCompactionServiceClient(programtest.Connection(t, addr)).GetLLMView(t.Context(),
		&compactordv1.GetLLMViewRequest{Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: session}, ViewToken: token})
	require.NoError(t, err)
	return answer
}

// A store moves from a file to a database and back, with all that it holds: the tokens that clients have stay valid.
func TestCopyToDatabaseAndBack(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", filepath.Join(t.TempDir(), "state"))
	file, database := stored(t, "a", "b"), postgrestest.Shared(t).Database(t)
	programtest.Ran(t, "import", sample.TalkFile(t), "--session", "a", "--store", file, "--tenant", "one").Ends(t, terminal.ExitDone)
	programtest.Ran(t, "compact", "--session", "b", "--store", file).Ends(t, terminal.ExitDone)
	daemon := programtest.Serving(t, "--listen", "127.0.0.1:0", "--store", file)
	before := viewed(t, daemon.Addr, "b", "")
	programtest.Ran(t, "store", "copy", file, database).Ends(t, terminal.ExitFailed).Says(t, "is in use by another process")
	require.Equal(t, terminal.ExitDone, daemon.Stop())

	keys := keyFile(t, "k")
	programtest.Ran(t, "encrypt", "--store", file, "--store-keys", keys).Ends(t, terminal.ExitDone)
	programtest.Ran(t, "store", "copy", file, database).Ends(t, terminal.ExitFailed).Says(t, "--store-keys")
	r := programtest.Ran(t, "store", "copy", file, database, "--store-keys", keys).Ends(t, terminal.ExitDone)
	require.Contains(t, r.Out, "holds the same as "+file+": 3 sessions with ")
	require.Contains(t, r.Out, "This run has copied 3 sessions.")
	require.Contains(t, r.Err, "copying ")
	require.Contains(t, r.Err, "comparing ")
	document := sample.Document(t, programtest.Ran(t, "store", "copy", file, database, "--store-keys", keys, "--json", "-q").
		Ends(t, terminal.ExitDone).Out)
	require.EqualValues(t, 3, sample.At(t, document, "sessions"))
	require.EqualValues(t, 0, sample.At(t, document, "copied"))

	back := filepath.Join(t.TempDir(), "back.db")
	programtest.Ran(t, "store", "copy", database, back).Ends(t, terminal.ExitDone)
	requireCheckPasses(t, back)
	for _, id := range []string{"a", "b"} {
		want := all(t, file, id, "--store-keys", keys)
		require.Equal(t, want, all(t, database, id))
		require.Equal(t, want, all(t, back, id))
	}
	require.Equal(t, all(t, file, "a", "--tenant", "one", "--store-keys", keys), all(t, database, "a", "--tenant", "one"))

	daemon = programtest.Serving(t, "--listen", "127.0.0.1:0", "--store", database)
	after := viewed(t, daemon.Addr, "b", before.GetViewToken())
	require.EqualValues(t, len(before.GetMessages()), after.GetUnchangedPrefix())
	programtest.Ran(t, "store", "copy", database, back).Ends(t, terminal.ExitFailed).Says(t, "the database is in use by another process")
	programtest.Ran(t, "store", "copy", back, database).Ends(t, terminal.ExitFailed).Says(t, "the database is in use by another process")
	programtest.Ran(t, "import", sample.TalkFile(t), "--session", "new", "--addr", daemon.Addr).Ends(t, terminal.ExitDone)
	require.Equal(t, terminal.ExitDone, daemon.Stop())
	r = programtest.Ran(t, "store", "copy", back, database).Ends(t, terminal.ExitFailed)
	require.Contains(t, r.Err, `it holds session "new", which the source has not`)
	require.Contains(t, r.Err, "Nothing was changed.")
}

// A copy that is killed is not taken for a store, and the same command goes on.
func TestCopyIsKilled(t *testing.T) {
	file, database := stored(t, "a"), postgrestest.Shared(t).Database(t)
	for i := range 100 {
		programtest.Ran(t, "fork", "--session", "a", "--as", fmt.Sprint("f", i), "--store", file).Ends(t, terminal.ExitDone)
	}
	want := all(t, file, "f99")
	for _, target := range []string{filepath.Join(t.TempDir(), "copy.db"), database} {
		cmd := exec.CommandContext(t.Context(), programtest.Binary(t), "store", "copy", file, target)
		said, err := cmd.StderrPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		// The first session is written after it has said so.
		lines := bufio.NewScanner(said)
		require.True(t, lines.Scan())
		require.True(t, strings.HasPrefix(lines.Text(), "copying "), lines.Text())
		require.NoError(t, cmd.Process.Kill())
		require.Error(t, cmd.Wait(), "it was not killed in the middle")
		expire(t, database)
		r := programtest.Ran(t, "sessions", "--store", target).Ends(t, terminal.ExitFailed)
		require.Contains(t, r.Err, "the copying into this store has not ended")
		require.Contains(t, r.Err, "compactord store copy FROM ")
		programtest.Ran(t, "store", "copy", target, filepath.Join(t.TempDir(), "other.db")).Ends(t, terminal.ExitFailed).
			Says(t, "the copying into this store has not ended")
		programtest.Ran(t, "store", "copy", file, target).Ends(t, terminal.ExitDone)
		require.Equal(t, want, all(t, target, "f99"))
	}
}

// expire lets those be dead that a database takes for alive.
func expire(t *testing.T, database string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), database)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "UPDATE openings SET expires = now() - interval '1 second' WHERE expires <> 'infinity'")
	require.NoError(t, err)
	require.NoError(t, conn.Close(t.Context()))
}

// What cannot be copied is refused before anything is made.
func TestCopyRefused(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	store, target := stored(t, "a"), filepath.Join(folder, "new.db")
	const a, b = "postgres://nobody@127.0.0.1:1/a", "postgres://nobody@127.0.0.1:1/b"
	programtest.Ran(t, "store", "copy", filepath.Join(folder, "none.db"), target).Ends(t, terminal.ExitFailed).Says(t, "there is no store")
	programtest.Ran(t, "store", "copy", store, store).Ends(t, terminal.ExitUsage).Says(t, "FROM and TO are the same store")
	programtest.Ran(t, "store", "copy", a, a).Ends(t, terminal.ExitUsage).Says(t, "FROM and TO are the same store")
	programtest.Ran(t, "store", "copy", a, b, "--store-keys", keyFile(t, "k")).Ends(t, terminal.ExitUsage).Says(t, "keys are for the file of a store")
	programtest.Ran(t, "store", "copy", "postgres://u:hush@127.0.0.1:1/a", target).Ends(t, terminal.ExitUsage).Says(t, "PGPASSWORD")
	programtest.Ran(t, "store", "copy", store, "postgres://u:hush@127.0.0.1:1/a").Ends(t, terminal.ExitUsage).Says(t, "PGPASSWORD")
	require.NoFileExists(t, target)
}

// Each recording is the same in a database, and again in a file.
func TestCopyOfRecordings(t *testing.T) {
	recordings := sample.TranscriptsOf(t, sample.Corpus(t))
	if testing.Short() {
		recordings = recordings[:3]
	}
	file, database := anystore.File(t), postgrestest.Shared(t).Database(t)
	imported := 0
	for i, recording := range recordings {
		session := fmt.Sprint("r", i)
		if programtest.Ran(t, "import", recording, "--session", session, "--store", file).Code != terminal.ExitDone {
			// Some recordings are malformed on purpose.
			continue
		}
		imported++
		programtest.Ran(t, "compact", "--session", session, "--store", file)
	}
	require.Positive(t, imported)
	back := filepath.Join(t.TempDir(), "back.db")
	programtest.Ran(t, "store", "copy", file, database).Ends(t, terminal.ExitDone)
	programtest.Ran(t, "store", "copy", database, back).Ends(t, terminal.ExitDone)
	require.Contains(t, programtest.Ran(t, "store", "copy", file, back).Ends(t, terminal.ExitDone).Out, "has copied 0 sessions.")
	requireCheckPasses(t, back)
	for i := range recordings {
		session := fmt.Sprint("r", i)
		require.Equal(t, viewOn(t, file, session), viewOn(t, database, session))
	}
}

// viewOn is what the command prints of a session's view, or why there is none, without the name of the store.
func viewOn(t *testing.T, store, session string) string {
	t.Helper()
	r := programtest.Ran(t, "view", "--session", session, "--dialect", "anthropic", "--store", store)
	return strings.ReplaceAll(r.Out+r.Err, store, "STORE")
}

// A database of another schema is refused as it is by all commands.
func TestCopyNeedsTheSchema(t *testing.T) {
	store, database := stored(t, "a"), postgrestest.Shared(t).Empty(t)
	r := programtest.Ran(t, "store", "copy", store, database).Ends(t, terminal.ExitFailed)
	require.Contains(t, r.Err, "compactord migrate --store '"+database+"'")
	_, err := postgres.Migrate(t.Context(), database)
	require.NoError(t, err)
	programtest.Ran(t, "store", "copy", store, database).Ends(t, terminal.ExitDone)
}
