package postgres_test

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/postgres"
	"github.com/compactord/compactord/storage/postgres/postgrestest"
	"github.com/compactord/compactord/storage/storagetest"
)

// noise returns a text of n characters that does not become smaller by compression.
func noise(t testing.TB, n int) string {
	t.Helper()
	b := make([]byte, n)
	_, err := rand.Read(b)
	require.NoError(t, err)
	return base64.StdEncoding.EncodeToString(b)[:n]
}

// statement runs a statement in a database, behind the back of a store.
func statement(t *testing.T, url, text string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	tag, err := conn.Exec(t.Context(), text)
	require.NoError(t, err)
	require.Positive(t, tag.RowsAffected(), "it changes something")
	require.NoError(t, conn.Close(t.Context()))
}

// large returns a session whose bodies of each kind are in chunks.
func large(t *testing.T) *storagetest.Draft {
	t.Helper()
	d := storagetest.NewSession("", "s", "u").Text("small").Text(noise(t, 900_000)).Text("small")
	d.Compaction(2, noise(t, 600_000)).Remember("r")
	d.Request.Stored.Response = []byte(noise(t, 700_000))
	d.Prune(0, 1)
	d.Records[2].GetRecord().GetPrune().GetEdits()[0].Replacement = noise(t, 500_000)
	return d
}

// Bodies that are too large for one value come back whole, whatever they hold.
func TestLargeBodies(t *testing.T) {
	url := postgrestest.Shared(t).Database(t)
	s := open(t, url)
	d := large(t)
	require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
	statement(t, url, "UPDATE chunks SET chunk = chunk WHERE length(body) = 262144 AND kind IN (1, 2, 3, 4)")

	messages, err := s.Messages(t.Context(), d.Ref(), 0, 10, 0)
	require.NoError(t, err)
	require.True(t, proto.Equal(d.Messages[1], messages[1]))
	records, err := s.Compactions(t.Context(), d.Ref(), 0, 0)
	require.NoError(t, err)
	require.True(t, proto.Equal(d.Records[1], records[0]))
	edits, err := s.Edits(t.Context(), d.Ref(), 0, 1)
	require.NoError(t, err)
	require.True(t, proto.Equal(d.Records[2].GetRecord().GetPrune().GetEdits()[0], edits[0].Edits[0]))
	request, err := s.Request(t.Context(), d.Ref(), "r")
	require.NoError(t, err)
	require.True(t, proto.Equal(d.Request.Stored, request))
}

// Whatever was changed in a log is damage that names the session, and is never handed out as content.
func TestDamage(t *testing.T) {
	url := postgrestest.Shared(t).Database(t)
	s := open(t, url)
	other := storagetest.NewSession("", "other", "v").Texts(3)
	require.NoError(t, s.CreateSession(t.Context(), &other.Commit))
	message := func(s *postgres.Store, ref storage.Ref) error {
		_, err := s.Messages(t.Context(), ref, 0, 10, 0)
		return err
	}
	record := func(s *postgres.Store, ref storage.Ref) error {
		_, err := s.Records(t.Context(), ref, 0, 10, 0)
		return err
	}
	row := func(s *postgres.Store, ref storage.Ref) error {
		_, err := s.Session(t.Context(), "", ref.SessionID)
		return err
	}
	for name, c := range map[string]struct {
		change string
		read   func(*postgres.Store, storage.Ref) error
	}{
		"byte of a message": {"UPDATE messages SET body = set_byte(body, 20, 0) WHERE ordinal = %[1]s AND number = 0", message},
		"message elsewhere": {"UPDATE messages m SET body = (SELECT body FROM messages o WHERE o.ordinal = m.ordinal AND o.number = 2) WHERE ordinal = %[1]s AND number = 0", message},
		"message of another": {"UPDATE messages SET body = (SELECT o.body FROM messages o JOIN sessions s USING (ordinal) WHERE s.id = 'other' AND number = 0) " +
			"WHERE ordinal = %[1]s AND number = 0", message},
		"message missing":   {"DELETE FROM messages WHERE ordinal = %[1]s AND number = 0", message},
		"last missing":      {"DELETE FROM messages WHERE ordinal = %[1]s AND number = 2", message},
		"empty message":     {"UPDATE messages SET body = '' WHERE ordinal = %[1]s AND number = 0", message},
		"chunk missing":     {"DELETE FROM chunks WHERE ordinal = %[1]s AND kind = 1 AND chunk = 1", message},
		"chunks exchanged":  {"UPDATE chunks SET chunk = 11 - chunk WHERE ordinal = %[1]s AND chunk < 2 AND kind = 1", message},
		"byte of a record":  {"UPDATE records SET body = set_byte(body, 8, 77) WHERE ordinal = %[1]s AND sequence = 0", record},
		"record elsewhere":  {"UPDATE records r SET body = (SELECT body FROM records o WHERE o.ordinal = r.ordinal AND o.sequence = 5) WHERE ordinal = %[1]s AND sequence = 0", record},
		"byte of a row":     {"UPDATE sessions SET body = set_byte(body, 20, 0) WHERE ordinal = %[1]s", row},
		"revision of a row": {"UPDATE sessions SET revision = 7 WHERE ordinal = %[1]s", row},
		"form of a row":     {"UPDATE sessions SET body = set_byte(body, 0, 9) WHERE ordinal = %[1]s", row},
	} {
		d := large(t)
		d.Session.SessionId, d.Session.Uid = name, name
		require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
		require.NoError(t, c.read(s, d.Ref()), name)
		statement(t, url, fmt.Sprintf(c.change, "(SELECT ordinal FROM sessions WHERE id = '"+name+"')"))
		err := c.read(s, d.Ref())
		var damaged *storage.DamagedError
		require.ErrorAs(t, err, &damaged, name)
		require.Equal(t, name, damaged.SessionID)
		require.ErrorIs(t, err, storage.ErrCorrupt, name)
		require.NotContains(t, err.Error(), "small", name)
	}
}

// A damaged row is left out of lists where the caller wants that, and does not end them.
func TestListsWithDamage(t *testing.T) {
	url := postgrestest.Shared(t).Database(t)
	s := open(t, url)
	for _, id := range []string{"a", "b", "c", "d"} {
		require.NoError(t, s.CreateSession(t.Context(), &storagetest.NewSession("", id, "u").Commit))
	}
	statement(t, url, "UPDATE sessions SET body = set_byte(body, 20, 0) WHERE id IN ('b', 'c')")
	_, _, err := s.Sessions(t.Context(), storage.SessionQuery{Limit: 4})
	require.ErrorIs(t, err, storage.ErrCorrupt)
	var damaged, whole []string
	q := storage.SessionQuery{Limit: 1, Damaged: func(d *storage.DamagedError) { damaged = append(damaged, d.SessionID) }}
	for more := true; more; more = q.Cursor != "" {
		rows, next, err := s.Sessions(t.Context(), q)
		require.NoError(t, err)
		for _, row := range rows {
			whole = append(whole, row.GetSessionId())
		}
		q.Cursor = next
	}
	require.Equal(t, []string{"d", "a"}, whole)
	require.Equal(t, []string{"c", "b"}, damaged)
}

// What PgBouncer before 1.21 needs, and what a connection without prepared statements does, is the same.
func TestWithoutPreparedStatements(t *testing.T) {
	for _, mode := range []string{"exec", "describe_exec", "simple_protocol"} {
		s := open(t, postgrestest.Shared(t).Database(t)+"&default_query_exec_mode="+mode)
		d := large(t).Labels("k", "v")
		require.NoError(t, s.CreateSession(t.Context(), &d.Commit), mode)
		next := storagetest.Next(d.Session).Text("more").Labels("k", "w").Running("op", "another")
		require.NoError(t, s.Commit(t.Context(), &next.Commit), mode)
		require.ErrorIs(t, s.Commit(t.Context(), &next.Commit), storage.ErrConflict, mode)
		messages, err := s.Messages(t.Context(), d.Ref(), 0, 10, 0)
		require.NoError(t, err, mode)
		require.Len(t, messages, 4, mode)
		rows, _, err := s.Sessions(t.Context(), storage.SessionQuery{Limit: 1, Labels: map[string]string{"k": "w"}})
		require.NoError(t, err, mode)
		require.True(t, proto.Equal(next.Session, rows[0]), mode)
		_, err = s.Records(t.Context(), d.Ref(), 0, 10, 1)
		require.NoError(t, err, mode)
		_, err = s.Requests(t.Context(), d.Ref(), "", 1)
		require.NoError(t, err, mode)
		found, err := s.Abandoned(t.Context())
		require.NoError(t, err, mode)
		require.Len(t, found, 1, mode)
		require.NoError(t, s.DeleteSession(t.Context(), "", "s"), mode)
	}
}

// A compaction of another daemon that lives is not abandoned. It is once that daemon has ended.
func TestCompactionsOfAnotherDaemon(t *testing.T) {
	url := postgrestest.Shared(t).Database(t)
	one, two := open(t, url), open(t, url)
	require.NoError(t, one.CreateSession(t.Context(), &storagetest.NewSession("", "s", "u").Running("op", one.Opening()).Commit))
	found, err := two.Abandoned(t.Context())
	require.NoError(t, err)
	require.Empty(t, found)
	require.NoError(t, one.Close())
	found, err = two.Abandoned(t.Context())
	require.NoError(t, err)
	require.Len(t, found, 1)

	// One that is killed says no more that it is alive.
	require.NoError(t, two.CreateSession(t.Context(), &storagetest.NewSession("", "t", "v").Running("op", "killed").Commit))
	statement(t, url, "INSERT INTO openings VALUES ('killed', now() + interval '1 minute')")
	found, err = two.Abandoned(t.Context())
	require.NoError(t, err)
	require.Len(t, found, 1)
	statement(t, url, "UPDATE openings SET expires = now() - interval '1 second' WHERE name = 'killed'")
	found, err = two.Abandoned(t.Context())
	require.NoError(t, err)
	require.Len(t, found, 2)
}

// The log of a deleted session is removed.
func TestDeletedLogsAreRemoved(t *testing.T) {
	url := postgrestest.Shared(t).Database(t)
	s := open(t, url)
	d := large(t).Texts(2500)
	require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
	kept := storagetest.NewSession("", "kept", "u").Texts(3)
	require.NoError(t, s.CreateSession(t.Context(), &kept.Commit))
	require.NoError(t, s.DeleteSession(t.Context(), "", "s"))
	// Its end is awaited by the lock that it holds on the dead session.
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(t.Context())) }()
	for left := 1; left > 0; {
		_, err := conn.Exec(t.Context(), "SELECT ordinal FROM dead FOR UPDATE")
		require.NoError(t, err)
		require.NoError(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM dead").Scan(&left))
	}
	for table, want := range map[string]int{"messages": 3, "records": 1, "edits": 0, "requests": 0, "chunks": 0, "labels": 0} {
		var rows int
		require.NoError(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM "+table).Scan(&rows))
		require.Equal(t, want, rows, table)
	}
}

// No error has a password or content of a conversation.
func TestErrorsTellNoSecrets(t *testing.T) {
	const secret = "hush-hush"
	for _, url := range []string{
		"postgres://user:" + secret + "@127.0.0.1:1/db?connect_timeout=1",
		"postgres://user:" + secret + "@127.0.0.1:notaport/db",
		"postgres://user:" + secret + "@127.0.0.1:1/db?sslmode=never",
		"host=127.0.0.1 port=1 password=" + secret + " connect_timeout=1",
		"hush hush " + secret,
	} {
		_, err := postgres.Open(t.Context(), postgres.Options{URL: url})
		require.Error(t, err)
		require.NotContains(t, err.Error(), secret)
		for ; err != nil; err = errors.Unwrap(err) {
			require.NotContains(t, err.Error(), secret)
		}
	}
}

// An error of the server may quote what was to be written.
func TestErrorsQuoteNothing(t *testing.T) {
	const content = "what was said"
	url := postgrestest.Shared(t).Database(t)
	s := open(t, url)
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(t.Context())) }()
	_, err = conn.Exec(t.Context(), `
		CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN RAISE EXCEPTION 'content: %', encode(NEW.body, 'escape'); END $$;
		CREATE TRIGGER refuse BEFORE INSERT ON messages FOR EACH ROW EXECUTE FUNCTION refuse()`)
	require.NoError(t, err)
	err = s.CreateSession(t.Context(), &storagetest.NewSession("", "s", "u").Text(content).Commit)
	require.ErrorContains(t, err, "P0001")
	require.NotContains(t, err.Error(), content)
}
