package stores_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage/postgres"
	"github.com/compactord/compactord/storage/postgres/postgrestest"
)

// watching watches a session on a daemon.
func watching(t *testing.T, d *programtest.Daemon, session string) grpc.ServerStreamingClient[compactordv1.WatchSessionResponse] {
	t.Helper()
	stream, err := compactordv1.NewSessionServiceClient(programtest.Connection(t, d.Addr)).
		WatchSession(t.Context(), &compactordv1.WatchSessionRequest{SessionId: session})
	require.NoError(t, err)
	answer, err := stream.Recv()
	require.NoError(t, err)
	require.NotNil(t, answer.GetStarted())
	return stream
}

// A database is a store for the daemon and for commands with --store, several at once. It must be migrated first.
func TestStoreInDatabase(t *testing.T) {
	server := postgrestest.Shared(t)
	store := server.Empty(t)
	t.Setenv("XDG_STATE_HOME", filepath.Join(t.TempDir(), "state"))
	migrate := "compactord migrate --store '" + store + "'"

	// Nothing works without the schema, and each says how to make it.
	for _, args := range [][]string{
		{"serve", "--listen", "127.0.0.1:0", "--store", store},
		{"sessions", "--store", store},
		{"check", "--store", store},
		{"migrate", "--status", "--store", store},
	} {
		r := programtest.Ran(t, args...).Ends(t, terminal.ExitFailed)
		require.Contains(t, r.Err, "the database has no tables of compactord yet", args[0])
		require.Contains(t, r.Err, migrate, args[0])
	}
	made := make([]int, postgres.Version)
	for i := range made {
		made[i] = i + 1
	}
	want, err := json.Marshal(map[string]any{"store": store, "version": postgres.Version, "wanted": postgres.Version, "made": made})
	require.NoError(t, err)
	require.JSONEq(t, string(want),
		programtest.Ran(t, "migrate", "--store", store, "--json").Ends(t, terminal.ExitDone).Out)
	require.Equal(t, fmt.Sprintf("%s already has version %d of the schema.\n", store, postgres.Version),
		programtest.Ran(t, "migrate", "--store", store).Ends(t, terminal.ExitDone).Out)
	programtest.Ran(t, "migrate", "--status", "--store", store).Ends(t, terminal.ExitDone)

	one := programtest.Serving(t, "--listen", "127.0.0.1:0", "--store", store)
	two := programtest.Serving(t, "--listen", "127.0.0.1:0", "--store", store, "--migrate")
	programtest.Ran(t, "import", sample.TalkFile(t), "--session", "a", "--addr", one.Addr).Ends(t, terminal.ExitDone)
	watched := watching(t, one, "a")
	programtest.Ran(t, "compact", "--session", "a", "--addr", two.Addr).Ends(t, terminal.ExitDone)
	for seen := false; !seen; {
		answer, err := watched.Recv()
		require.NoError(t, err)
		seen = answer.GetRecord().GetCompaction() != nil
	}
	programtest.Ran(t, "import", sample.TalkFile(t), "--session", "b", "--store", store).Ends(t, terminal.ExitDone)
	views := map[string]bool{}
	for _, where := range [][]string{{"--addr", one.Addr}, {"--addr", two.Addr}, {"--store", store}} {
		out := programtest.Ran(t, append([]string{"view", "--session", "a"}, where...)...).Ends(t, terminal.ExitDone).Out
		before, after, advised := strings.Cut(out, "The window is unknown")
		require.True(t, advised)
		// What it advises, in that line, names where the session is.
		_, after, _ = strings.Cut(after, "\n")
		views[before+after] = true
	}
	require.Len(t, views, 1, "all see the same")
	require.Contains(t, programtest.Ran(t, "check", "--store", store).Ends(t, terminal.ExitDone).Out,
		fmt.Sprintf("is sound. Its version is %d, plain.", postgres.Version))
	require.Equal(t, terminal.ExitDone, one.Stop())
	require.Equal(t, terminal.ExitDone, two.Stop())
}

// Commands on the file of a store refuse a database before they do anything, and do not take its URL for a path.
func TestDatabaseIsNoFile(t *testing.T) {
	const store = "postgres://nobody@127.0.0.1:1/none"
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("keys", []byte("k"), 0o600))
	for _, args := range [][]string{
		{"backup", "to", "--store", store},
		{"restore", "keys", "--store", store},
		{"defrag", "--store", store},
		{"decrypt", "--store", store},
		{"salvage", store, "new.db"},
		{"salvage", "keys", store},
	} {
		r := programtest.Ran(t, args...).Ends(t, terminal.ExitUsage)
		require.Contains(t, r.Err, "this command works on the file of a store", args)
	}
	left, err := os.ReadDir(".")
	require.NoError(t, err)
	require.Len(t, left, 1)
}

// What a database does not have is refused by name, and a password in a URL is not repeated.
func TestSettingsOfDatabase(t *testing.T) {
	const store = "postgres://nobody@127.0.0.1:1/none"
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"--store", store, "--store-keys", "keys"}, "--store-keys: a store in PostgreSQL is not encrypted by compactord yet"},
		{[]string{"--store", store, "--store-keys-env", "KEYS"}, "--store-keys-env: a store in PostgreSQL is not encrypted by compactord yet"},
		{[]string{"--store", store, "--overwrite-freed"}, "--overwrite-freed: only the file of a store is overwritten"},
		{[]string{"--migrate"}, "--migrate: only a store in a PostgreSQL database is migrated"},
		{[]string{"--store", "postgres://u:hush@127.0.0.1:1/d"}, "--store: a password does not belong in the URL"},
		{[]string{"--store", "postgres://u@127.0.0.1:1/d?password=hush"}, "--store: a password does not belong in the URL"},
		{[]string{"--store", "postgres://u:hush@127.0.0.1:port/d"}, "--store: the URL of the store cannot be read"},
	} {
		r := programtest.Ran(t, append([]string{"serve", "--listen", "127.0.0.1:0"}, c.args...)...).Ends(t, terminal.ExitUsage)
		require.Contains(t, r.Err, c.says)
		require.NotContains(t, r.Err, "hush")
	}
	for _, args := range [][]string{
		{"migrate", "--store", "postgres://u:hush@127.0.0.1:1/d"},
		{"sessions", "--store", "postgres://u:hush@127.0.0.1:1/d"},
		{"check", "--store", "postgres://u:hush@127.0.0.1:1/d"},
	} {
		r := programtest.Ran(t, args...).Ends(t, terminal.ExitUsage)
		require.Contains(t, r.Err, "PGPASSWORD")
		require.NotContains(t, r.Err, "hush")
	}
	r := programtest.Ran(t, "sessions", "--store", store).Ends(t, terminal.ExitFailed)
	require.Contains(t, r.Err, "cannot reach the database "+store)
	require.Contains(t, strings.ToLower(r.Err), "connect")
}

// An error of a database that cannot be opened says what to do.
func TestUnreachableDatabase(t *testing.T) {
	server := postgrestest.Shared(t)
	t.Setenv("XDG_STATE_HOME", filepath.Join(t.TempDir(), "state"))
	store := server.Empty(t)
	programtest.Ran(t, "migrate", "--store", store).Ends(t, terminal.ExitDone)
	u, err := url.Parse(store)
	require.NoError(t, err)
	with := func(change func(*url.URL, url.Values)) string {
		other, query := *u, u.Query()
		change(&other, query)
		other.RawQuery = query.Encode()
		return other.String()
	}
	for name, c := range map[string]struct{ store, says, todo string }{
		"database": {with(func(u *url.URL, _ url.Values) { u.Path = "/none" }), "cannot reach the database", "Make the database"},
		"role":     {with(func(_ *url.URL, q url.Values) { q.Set("user", "nobody") }), "cannot reach the database", "let the role in"},
		"port":     {with(func(_ *url.URL, q url.Values) { q.Set("port", "1") }), "cannot reach the database", "Check that the server runs"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, command := range []string{"serve", "sessions", "migrate"} {
				r := programtest.Ran(t, command, "--store", c.store).Ends(t, terminal.ExitFailed)
				require.Contains(t, r.Err, c.says, command)
				require.Contains(t, r.Err, c.todo, command)
				require.NotContains(t, r.Err, "disk", command)
			}
		})
	}

	// A role without rights on the tables learns who grants them, or who migrates.
	conn, err := pgx.Connect(t.Context(), store)
	require.NoError(t, err)
	// Roles are of the whole server, which other tests use, too.
	_, err = conn.Exec(t.Context(), "DROP ROLE IF EXISTS plain; CREATE ROLE plain LOGIN")
	require.NoError(t, errors.Join(err, conn.Close(t.Context())))
	plain := with(func(_ *url.URL, q url.Values) { q.Set("user", "plain") })
	for _, command := range []string{"serve", "sessions"} {
		r := programtest.Ran(t, command, "--store", plain).Ends(t, terminal.ExitFailed)
		require.Contains(t, r.Err, "the role lacks rights in the database", command)
		require.Contains(t, r.Err, "compactord help scaling", command)
	}
	r := programtest.Ran(t, "migrate", "--store", plain).Ends(t, terminal.ExitFailed)
	require.Contains(t, r.Err, "Migrate as the role that owns the tables")
}

// The rights that the documents give to the role of the daemons are enough for all that these and the commands do.
func TestTheDocumentedRightsAreEnough(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", filepath.Join(t.TempDir(), "state"))
	store := postgrestest.Own(t).Empty(t)
	programtest.Ran(t, "migrate", "--store", store).Ends(t, terminal.ExitDone)
	document, err := os.ReadFile("../../../../docs/scaling.md")
	require.NoError(t, err)
	_, grants, found := strings.Cut(string(document), "```sql\n")
	require.True(t, found)
	grants, _, found = strings.Cut(grants, "```")
	require.True(t, found)
	conn, err := pgx.Connect(t.Context(), store)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "REVOKE ALL ON SCHEMA public FROM PUBLIC; CREATE ROLE compactord LOGIN;"+grants)
	require.NoError(t, errors.Join(err, conn.Close(t.Context())))
	u, err := url.Parse(store)
	require.NoError(t, err)
	query := u.Query()
	query.Set("user", "compactord")
	u.RawQuery = query.Encode()
	role := u.String()

	d := programtest.Serving(t, "--listen", "127.0.0.1:0", "--store", role)
	programtest.Ran(t, "import", sample.TalkFile(t), "--session", "a", "--addr", d.Addr).Ends(t, terminal.ExitDone)
	programtest.Ran(t, "compact", "--session", "a", "--addr", d.Addr).Ends(t, terminal.ExitDone)
	programtest.Ran(t, "delete", "--session", "a", "--yes", "--addr", d.Addr).Ends(t, terminal.ExitDone)
	require.Equal(t, terminal.ExitDone, d.Stop())
	programtest.Ran(t, "import", sample.TalkFile(t), "--session", "b", "--store", role).Ends(t, terminal.ExitDone)
	programtest.Ran(t, "check", "--store", role).Ends(t, terminal.ExitDone)
	programtest.Ran(t, "migrate", "--status", "--store", role).Ends(t, terminal.ExitDone)
	file := filepath.Join(t.TempDir(), "copy.db")
	programtest.Ran(t, "store", "copy", role, file).Ends(t, terminal.ExitDone)

	// Long logs that are copied get a number ahead.
	conn, err = pgx.Connect(t.Context(), role)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "SELECT nextval(pg_get_serial_sequence('sessions', 'ordinal'))")
	require.NoError(t, errors.Join(err, conn.Close(t.Context())))
}
