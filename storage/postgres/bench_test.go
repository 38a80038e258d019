package postgres_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/compactord/compactord/storage/postgres/postgrestest"
	"github.com/compactord/compactord/storage/storagetest"
)

// bareSQL are tables for what an append must write at the least.
const bareSQL = `
	CREATE TABLE bare_sessions (id bytea PRIMARY KEY, revision bigint NOT NULL, body bytea NOT NULL);
	CREATE TABLE bare_messages (ordinal bigint, number bigint, body bytea, PRIMARY KEY (ordinal, number));
	INSERT INTO bare_sessions VALUES ('s', 1, decode(repeat('00', 200), 'hex'))`

// BenchmarkAppend appends messages of 2 kB, each beside a transaction of pgx alone that writes the same bytes and updates
// one row. bare/op is how many times the time of that an append takes.
func BenchmarkAppend(b *testing.B) {
	for name, remembered := range map[string]bool{"plain": false, "remembered": true} {
		b.Run(name, func(b *testing.B) {
			url := postgrestest.Shared(b).Database(b)
			s := open(b, url)
			conn, err := pgx.Connect(b.Context(), url)
			require.NoError(b, err)
			defer func() { require.NoError(b, conn.Close(b.Context())) }()
			_, err = conn.Exec(b.Context(), bareSQL)
			require.NoError(b, err)
			row := storagetest.NewSession("", "s", "u")
			require.NoError(b, s.CreateSession(b.Context(), &row.Commit))
			text, body := noise(b, 2000), []byte(noise(b, 2060))
			var took, bare time.Duration
			for n := 0; b.Loop(); n++ {
				next := storagetest.Next(row.Session).Text(text)
				next.Session.ChangedAt = storagetest.At(n)
				if remembered {
					next.Remember(fmt.Sprint("request ", n))
				}
				row = next
				began := time.Now()
				require.NoError(b, s.Commit(b.Context(), &next.Commit))
				took += time.Since(began)

				batch := &pgx.Batch{}
				batch.Queue("UPDATE bare_sessions SET revision = revision + 1, body = $2 WHERE id = $1 AND revision = $3", []byte("s"), body[:200], n+1)
				batch.Queue("INSERT INTO bare_messages VALUES (1, $1, $2)", n, body)
				began = time.Now()
				require.NoError(b, conn.SendBatch(b.Context(), batch).Close())
				bare += time.Since(began)
			}
			b.ReportMetric(float64(took.Microseconds())/float64(b.N), "µs/append")
			b.ReportMetric(float64(took)/float64(bare), "bare/op")
		})
	}
}

// BenchmarkClients has 32 clients append messages of 2 kB to 32 of 2,000 sessions, in rounds, each beside a round in which as
// many connections of pgx alone write the same bytes and update a row of 2,000 each. The server has the figures of its
// tables, as autovacuum gives them: else it may look for a session by an index of lists, which costs as much again. bare/op
// is how many times the time of pgx alone an append takes. WAL-B and bare-WAL-B are what the server writes to its log for each.
func BenchmarkClients(b *testing.B) {
	const clients, each, sessions = 32, 20, 2000
	url := postgrestest.Shared(b).Database(b) + fmt.Sprint("&pool_max_conns=", clients)
	s := open(b, url)
	pool, err := pgxpool.New(b.Context(), url)
	require.NoError(b, err)
	defer pool.Close()
	_, err = pool.Exec(b.Context(), bareSQL)
	require.NoError(b, err)
	body := []byte(noise(b, 2060))
	rows := make([]*storagetest.Draft, sessions)
	for i := range rows {
		rows[i] = storagetest.NewSession("", fmt.Sprint(i), "u")
		require.NoError(b, s.CreateSession(b.Context(), &rows[i].Commit))
		_, err := pool.Exec(b.Context(), "INSERT INTO bare_sessions VALUES ($1, 0, $2)", []byte(fmt.Sprint(i)), body[:200])
		require.NoError(b, err)
	}
	_, err = pool.Exec(b.Context(), "VACUUM ANALYZE")
	require.NoError(b, err)
	text := noise(b, 2000)
	var took, bare round
	for n := 0; b.Loop(); n += each {
		commits := make([][each]*storagetest.Draft, clients)
		for client := range commits {
			for i := range each {
				next := storagetest.Next(rows[client].Session)
				next.Session.ChangedAt = timestamppb.Now()
				rows[client], commits[client][i] = next, next.Text(text)
			}
		}
		took.run(b, pool, clients, each, func(client, i int) error { return s.Commit(b.Context(), &commits[client][i].Commit) })
		bare.run(b, pool, clients, each, func(client, i int) error {
			batch := &pgx.Batch{}
			batch.Queue("UPDATE bare_sessions SET revision = revision + 1, body = $2 WHERE id = $1 AND revision = $3",
				[]byte(fmt.Sprint(client)), body[:200], n+i)
			batch.Queue("INSERT INTO bare_messages VALUES ($1, $2, $3)", client, n+i, body)
			return pool.SendBatch(b.Context(), batch).Close()
		})
	}
	appends := clients * each * float64(b.N)
	b.ReportMetric(appends/took.time.Seconds(), "appends/s")
	b.ReportMetric(float64(took.time)/float64(bare.time), "bare/op")
	b.ReportMetric(float64(took.log)/appends, "WAL-B")
	b.ReportMetric(float64(bare.log)/appends, "bare-WAL-B")
}

// round is what all rounds of one kind have taken.
type round struct {
	time time.Duration
	log  int64
}

// run has clients do something so many times each.
func (r *round) run(b *testing.B, pool *pgxpool.Pool, clients, each int, one func(client, i int) error) {
	b.Helper()
	log := logged(b, pool)
	began := time.Now()
	var group errgroup.Group
	for client := range clients {
		group.Go(func() error {
			for i := range each {
				if err := one(client, i); err != nil {
					return err
				}
			}
			return nil
		})
	}
	require.NoError(b, group.Wait())
	r.time += time.Since(began)
	r.log += logged(b, pool) - log
}

// logged returns how many bytes the server has written to its log.
func logged(b *testing.B, pool *pgxpool.Pool) (bytes int64) {
	b.Helper()
	statement := "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint"
	require.NoError(b, pool.QueryRow(b.Context(), statement).Scan(&bytes))
	return bytes
}
