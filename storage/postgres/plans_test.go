package postgres_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/postgres"
	"github.com/compactord/compactord/storage/postgres/postgrestest"
	"github.com/compactord/compactord/storage/storagetest"
)

// manySQL makes sessions of many tenants, one of which has half of them, with a log each. Nobody reads the bodies.
const manySQL = `
	INSERT INTO sessions (tenant, id, uid, revision, next_index, next_sequence, created_seconds, created_nanos,
		changed_seconds, changed_nanos, parent_uid, running, traits, commits, body)
	SELECT CASE WHEN n % 2 = 0 THEN '' ELSE convert_to('t' || n % 1000, 'UTF8') END, convert_to('s' || n, 'UTF8'), convert_to('u' || n, 'UTF8'),
		1, 1, 2, n, 0, n, 0, CASE WHEN n % 10 = 0 THEN convert_to('u' || n / 10, 'UTF8') END, false, '', '12345678', 'body'
	FROM generate_series(1, 10000) n;
	INSERT INTO labels SELECT ordinal, tenant, 'k', convert_to('v' || ordinal % 10000, 'UTF8') FROM sessions;
	INSERT INTO messages SELECT ordinal, 0, 10, 'body' FROM sessions;
	INSERT INTO records SELECT ordinal, 1, 0, 'body' FROM sessions;
	INSERT INTO edits SELECT ordinal, 0, 1, 'body' FROM sessions;
	INSERT INTO requests SELECT ordinal, 'r', 1, 'body' FROM sessions;
	INSERT INTO chunks SELECT ordinal, 1, 0, 0, 0, 'body' FROM sessions`

// Among many sessions, no statement of a call reads through a whole table, finds a session by an index of lists, or sorts a whole
// list: at the most, those of one second are sorted.
func TestPlansUseIndexes(t *testing.T) {
	url := postgrestest.Shared(t).Database(t)
	seen := &statements{texts: map[string]bool{}}
	s, err := postgres.OpenTraced(t.Context(), url, seen)
	require.NoError(t, err)
	callAll(t, s)
	require.NoError(t, s.Close())

	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(t.Context())) }()
	// What a daemon prepares is planned for any values.
	_, err = conn.Exec(t.Context(), "SET plan_cache_mode = force_generic_plan")
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), manySQL)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "ANALYZE")
	require.NoError(t, err)
	for i, text := range slices.Sorted(maps.Keys(seen.texts)) {
		for _, n := range explain(t, conn, fmt.Sprint("statement_", i), text) {
			if small := n.Relation == "openings" || n.Relation == "dead" || n.Relation == "drafts" || n.Relation == "compactord_schema"; !small {
				require.NotEqual(t, "Seq Scan", n.Type, "%s in the plan of\n%s", n.Relation, text)
			}
			if whole := strings.Contains(text, "FROM sessions s\nWHERE") && !strings.Contains(text, "labels l"); whole {
				require.NotEqual(t, "Sort", n.Type, "in the plan of\n%s", text)
			}
			if lists := strings.Contains(text, "ORDER BY s.c"); !lists {
				require.NotContains(t, []string{"sessions_by_change", "sessions_by_creation"}, n.Index, text)
			}
		}
	}
	require.Greater(t, len(seen.texts), 30, "all statements of calls")
}

// The sessions with a label that hardly any has are found among the labels, and not by a look at all sessions: each would be
// a look into the index of labels.
func TestRareLabelsAreLookedUp(t *testing.T) {
	url := postgrestest.Shared(t).Database(t)
	s, err := postgres.OpenTraced(t.Context(), url, &counting{})
	require.NoError(t, err)
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(t.Context())) }()
	requireCounting(t, conn)
	for n := range 1000 {
		label := "usual"
		if n < 5 {
			label = "rare"
		}
		d := storagetest.NewSession("", fmt.Sprint(n), fmt.Sprint("u", n)).Labels("k", label).CreatedAt(n)
		require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
	}
	_, err = conn.Exec(t.Context(), "VACUUM ANALYZE")
	require.NoError(t, err)
	var before, after int
	looks := "SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname IN ('labels_by_value', 'labels_pkey') ORDER BY idx_scan DESC LIMIT 1"
	require.NoError(t, conn.QueryRow(t.Context(), looks).Scan(&before))
	// The server makes plans for any value after five for one.
	const lists = 10
	for range lists {
		found, _, err := s.Sessions(t.Context(), storage.SessionQuery{Labels: map[string]string{"k": "rare"}, Limit: 10})
		require.NoError(t, err)
		require.Len(t, found, 5)
	}
	require.NoError(t, s.Close())
	require.NoError(t, conn.QueryRow(t.Context(), looks).Scan(&after))
	// Making a plan takes a few looks, too.
	require.LessOrEqual(t, after-before, 20*lists)
}

// A session that is changed again within its span of time is found by the entries of indexes that are there already, so that an
// append writes none of the table of sessions.
func TestAppendsWithinASpanWriteNoIndexOfSessions(t *testing.T) {
	url := postgrestest.Shared(t).Database(t)
	s, err := postgres.OpenTraced(t.Context(), url, &counting{})
	require.NoError(t, err)
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(t.Context())) }()
	requireCounting(t, conn)
	const sessions, spans, appends = 40, 3, 10
	rows := make([]*storagetest.Draft, sessions)
	for i := range rows {
		rows[i] = storagetest.NewSession("", fmt.Sprint(i), "u").ChangedAt(spans * appends)
		require.NoError(t, s.CreateSession(t.Context(), &rows[i].Commit))
	}
	for n := range spans * appends {
		for i := range rows {
			// Those of one span differ in their second, too.
			next := storagetest.Next(rows[i].Session)
			next.Session.ChangedAt = &timestamppb.Timestamp{Seconds: int64(1+n/appends)*spanSeconds + int64(n%appends)}
			rows[i] = next.Text("more")
			require.NoError(t, s.Commit(t.Context(), &rows[i].Commit))
		}
	}
	require.NoError(t, s.Close())
	var updates, without int
	counts := "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'sessions'"
	require.NoError(t, conn.QueryRow(t.Context(), counts).Scan(&updates, &without))
	require.Equal(t, sessions*spans*appends, updates)
	require.LessOrEqual(t, updates-without, sessions*(spans+1), "one for each span, and few where a page is full")
}

// spanSeconds are those of a span of the schema.
const spanSeconds = 32

// requireCounting skips a test where the server counts only now and then.
func requireCounting(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	var version int
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT current_setting('server_version_num')::int").Scan(&version))
	if version < 150000 {
		t.Skip("only PostgreSQL 15 and later count at once what is done to tables")
	}
}

// counting has the server count at once what a statement has used.
type counting struct{ itself atomic.Bool }

func (c *counting) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}

func (c *counting) TraceQueryEnd(ctx context.Context, conn *pgx.Conn, _ pgx.TraceQueryEndData) {
	if c.itself.CompareAndSwap(false, true) {
		_, _ = conn.Exec(ctx, "SELECT pg_stat_force_next_flush()")
		c.itself.Store(false)
	}
}

// statements collects the statements that a store sends.
type statements struct {
	mu    sync.Mutex
	texts map[string]bool
}

func (s *statements) TraceQueryStart(ctx context.Context, conn *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	text := data.SQL
	if n := len(data.Args); n > 0 {
		if named, ok := data.Args[n-1].(pgx.NamedArgs); ok {
			text, _, _ = named.RewriteQuery(ctx, conn, text, data.Args)
		}
	}
	s.add(text)
	return ctx
}

func (*statements) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (*statements) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

func (s *statements) TraceBatchQuery(_ context.Context, _ *pgx.Conn, data pgx.TraceBatchQueryData) {
	s.add(data.SQL)
}

func (*statements) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

func (s *statements) add(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.texts[text] = true
}

// callAll makes a store send what calls send.
func callAll(t *testing.T, s *postgres.Store) {
	t.Helper()
	ctx := t.Context()
	d := large(t).Labels("k", "v")
	require.NoError(t, s.CreateSession(ctx, &d.Commit))
	next := storagetest.Next(d.Session).Text("more").Compaction(1, "summary").Prune(0).Remember("other").Labels("k", "w")
	next.Running("op", s.Opening())
	require.NoError(t, s.Commit(ctx, &next.Commit))
	require.ErrorIs(t, s.Commit(ctx, &next.Commit), storage.ErrRequestKnown)
	plain := storagetest.Next(next.Session).Text("and more")
	require.NoError(t, s.Commit(ctx, &plain.Commit))
	compacted := storagetest.Next(plain.Session).Compaction(2, "summary").Remember("third")
	require.NoError(t, s.Commit(ctx, &compacted.Commit))
	long := storagetest.Long("", "long", "u").Labels()
	pieces, last := storagetest.Split(long, 5, 3)
	w, err := s.Draft(ctx, long.Ref())
	require.NoError(t, err)
	for _, p := range pieces {
		require.NoError(t, w.Append(ctx, p))
	}
	require.NoError(t, w.Create(ctx, last))
	require.NoError(t, s.DeleteSession(ctx, "", "long"))
	unfinished, err := s.Draft(ctx, storagetest.Long("", "unfinished", "u").Ref())
	require.NoError(t, err)
	unfinished.Discard(ctx)
	ref := d.Ref()
	_, err = s.Session(ctx, "", "s")
	require.NoError(t, err)
	_, err = s.Messages(ctx, ref, 0, 10, 0)
	require.NoError(t, err)
	_, err = s.Records(ctx, ref, 0, 10, 5)
	require.NoError(t, err)
	_, err = s.RecordAtOrBefore(ctx, ref, 5)
	require.NoError(t, err)
	_, err = s.Compactions(ctx, ref, 0, 1)
	require.NoError(t, err)
	_, err = s.Edits(ctx, ref, 0, 10)
	require.NoError(t, err)
	_, err = s.Request(ctx, ref, "r")
	require.NoError(t, err)
	_, err = s.Requests(ctx, ref, "", 10)
	require.NoError(t, err)
	_, err = s.Revisions(ctx, []storage.Ref{ref})
	require.NoError(t, err)
	_, err = s.Abandoned(ctx)
	require.NoError(t, err)
	_, err = s.Children(ctx, "", "u")
	require.NoError(t, err)
	for _, order := range []storage.SessionOrder{storage.ByCreation, storage.ByChange} {
		for _, q := range []storage.SessionQuery{{}, {Labels: map[string]string{"k": "w"}}, {Parent: "u"}} {
			q.Order, q.Limit = order, 10
			_, _, err = s.Sessions(ctx, q)
			require.NoError(t, err)
		}
	}
	require.NoError(t, s.DeleteSession(ctx, "", "s"))
}

// node is a part of a plan that reads a table.
type node struct {
	Type     string `json:"Node Type"`
	Relation string `json:"Relation Name"`
	Index    string `json:"Index Name"`
	Plans    []node
}

// explain returns all parts of the plan of a statement, for any values.
func explain(t *testing.T, conn *pgx.Conn, name, text string) []node {
	t.Helper()
	description, err := conn.Prepare(t.Context(), name, text)
	if err != nil || len(strings.Fields(text)) == 1 {
		require.NoError(t, err, text)
		return nil
	}
	values := ""
	if n := len(description.ParamOIDs); n > 0 {
		values = "(" + strings.TrimSuffix(strings.Repeat("NULL, ", n), ", ") + ")"
	}
	var plan []byte
	require.NoError(t, conn.QueryRow(t.Context(), "EXPLAIN (FORMAT JSON) EXECUTE "+pgx.Identifier{name}.Sanitize()+values).Scan(&plan), text)
	var found []struct{ Plan node }
	require.NoError(t, json.Unmarshal(plan, &found))
	all := []node{found[0].Plan}
	for i := 0; i < len(all); i++ {
		all = append(all, all[i].Plans...)
	}
	return all
}
