package postgres_test

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/postgres"
	"github.com/compactord/compactord/storage/postgres/postgrestest"
	"github.com/compactord/compactord/storage/storagetest"
)

// BenchmarkMany measures operations among many sessions and on a session with ten times as many messages, each beside the
// same one in a database of 500 sessions and one of 1,000 messages. There are 2,000 sessions, or as many as
// COMPACTORD_LOAD_SESSIONS says, and 50 with the same label. x-few is how many times as long the median takes.
func BenchmarkMany(b *testing.B) {
	sessions := 2000
	if set := os.Getenv("COMPACTORD_LOAD_SESSIONS"); set != "" {
		var err error
		sessions, err = strconv.Atoi(set)
		require.NoError(b, err)
	}
	few, short := filled(b, 500, 1000)
	many, long := filled(b, sessions, 10*sessions)
	listed := func(q storage.SessionQuery) func(*postgres.Store, *storagetest.Draft) {
		q.Limit = 50
		return func(s *postgres.Store, _ *storagetest.Draft) {
			page, _, err := s.Sessions(b.Context(), q)
			require.NoError(b, err)
			require.Len(b, page, 50)
		}
	}
	for name, operation := range map[string]func(s *postgres.Store, last *storagetest.Draft){
		"list by change":       listed(storage.SessionQuery{Order: storage.ByChange}),
		"list by creation":     listed(storage.SessionQuery{Order: storage.ByCreation}),
		"list by label":        listed(storage.SessionQuery{Labels: map[string]string{"k": "v7"}}),
		"view of 200 messages": func(s *postgres.Store, last *storagetest.Draft) { readNewest(b, s, last, 200) },
		"append": func(s *postgres.Store, last *storagetest.Draft) {
			*last = *storagetest.Next(last.Session).Text("one more message")
			require.NoError(b, s.Commit(b.Context(), &last.Commit))
		},
	} {
		b.Run(name, func(b *testing.B) {
			var base, took []time.Duration
			for b.Loop() {
				began := time.Now()
				operation(few, short)
				between := time.Now()
				operation(many, long)
				base, took = append(base, between.Sub(began)), append(took, time.Since(between))
			}
			slices.Sort(base)
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "µs")
			b.ReportMetric(float64(took[len(took)/2])/float64(cmp.Or(base[len(base)/2], 1)), "x-few")
		})
	}
}

// filled returns a store with so many sessions, and the newest state of one with so many messages. The server has the figures
// of its tables, as autovacuum gives them.
func filled(b *testing.B, sessions, messages int) (*postgres.Store, *storagetest.Draft) {
	b.Helper()
	url := postgrestest.Shared(b).Database(b)
	s := open(b, url)
	conn, err := pgx.Connect(b.Context(), url)
	require.NoError(b, err)
	defer func() { require.NoError(b, conn.Close(b.Context())) }()
	long := longSession(b, s, messages)
	// As long as the server takes the tables for empty, it reads them from their beginning for each session.
	for at := 0; at < sessions; {
		end := min(max(500, 10*at), sessions)
		createMany(b, s, at, end, sessions/50)
		_, err = conn.Exec(b.Context(), "VACUUM ANALYZE")
		require.NoError(b, err)
		at = end
	}
	return s, long
}

// longSession creates a session with so many messages, and returns its newest state.
func longSession(b *testing.B, s *postgres.Store, messages int) *storagetest.Draft {
	b.Helper()
	const piece = 2000
	d := storagetest.NewSession("", "long", "u-long")
	require.NoError(b, s.CreateSession(b.Context(), &d.Commit))
	for messages > 0 {
		d = storagetest.Next(d.Session).Texts(min(messages, piece))
		require.NoError(b, s.Commit(b.Context(), &d.Commit))
		messages -= piece
	}
	return d
}

func createMany(b *testing.B, s *postgres.Store, from, to, labels int) {
	b.Helper()
	var group errgroup.Group
	group.SetLimit(8)
	for n := from; n < to; n++ {
		group.Go(func() error {
			id := fmt.Sprint("s", n)
			d := storagetest.NewSession("", id, "u-"+id).Labels("k", fmt.Sprint("v", n%labels)).Texts(1).CreatedAt(n).ChangedAt(n)
			return s.CreateSession(b.Context(), &d.Commit)
		})
	}
	require.NoError(b, group.Wait())
}

func readNewest(b *testing.B, s *postgres.Store, d *storagetest.Draft, messages uint32) {
	b.Helper()
	next := d.Session.GetHead().GetNextIndex()
	read, err := s.Messages(b.Context(), d.Ref(), next-messages, next, 0)
	require.NoError(b, err)
	require.Len(b, read, int(messages))
}
