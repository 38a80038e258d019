package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/postgres/postgrestest"
	"github.com/compactord/compactord/storage/storagetest"
)

// leftSQL counts what belongs to no session: drafts, and parts of logs.
const leftSQL = `
	SELECT (SELECT count(*) FROM drafts) + (SELECT count(*) FROM dead)
		+ (SELECT count(*) FROM messages WHERE ordinal NOT IN (SELECT ordinal FROM sessions))
		+ (SELECT count(*) FROM records WHERE ordinal NOT IN (SELECT ordinal FROM sessions))
		+ (SELECT count(*) FROM edits WHERE ordinal NOT IN (SELECT ordinal FROM sessions))
		+ (SELECT count(*) FROM chunks WHERE ordinal NOT IN (SELECT ordinal FROM sessions))`

// requireNothingLeft waits until the sweepers have removed all that belongs to no session.
func requireNothingLeft(t *testing.T, url string) {
	t.Helper()
	connected(t, url, func(ctx context.Context, conn *pgx.Conn) {
		require.Eventually(t, func() bool {
			var left int
			require.NoError(t, conn.QueryRow(ctx, leftSQL).Scan(&left))
			return left == 0
		}, time.Minute, 20*time.Millisecond)
	})
}

// What a draft has written is removed where its daemon is taken for dead, and then the daemon can write no more of it.
func TestDraftOfADaemonThatIsTakenForDead(t *testing.T) {
	url := postgrestest.Shared(t).Database(t)
	slow := open(t, url)
	d := storagetest.Long("", "s", "u")
	pieces, _ := storagetest.Split(d, 4, 2)
	w, err := slow.Draft(t.Context(), d.Ref())
	require.NoError(t, err)
	for _, p := range pieces[:len(pieces)-1] {
		require.NoError(t, w.Append(t.Context(), p))
	}
	statement(t, url, "UPDATE openings SET expires = now() - interval '1 hour'")
	other := open(t, url)
	requireNothingLeft(t, url)
	require.ErrorIs(t, w.Append(t.Context(), pieces[len(pieces)-1]), storage.ErrDisk)
	w.Discard(t.Context())

	again, err := slow.Draft(t.Context(), d.Ref())
	require.NoError(t, err)
	require.NoError(t, again.Append(t.Context(), pieces[0]))
	_, last := storagetest.Split(d, 4, len(d.Messages)+len(d.Records)-4)
	statement(t, url, "DELETE FROM drafts")
	require.ErrorIs(t, again.Create(t.Context(), last), storage.ErrDisk)
	again.Discard(t.Context())
	_, err = other.Session(t.Context(), "", "s")
	require.ErrorIs(t, err, storage.ErrNotFound)
}

// Beside daemons that sweep, a draft stays.
func TestDraftsAreNotSwept(t *testing.T) {
	url := postgrestest.Shared(t).Database(t)
	s := open(t, url)
	d := storagetest.Long("", "s", "u")
	pieces, last := storagetest.Split(d, 4, 2)
	w, err := s.Draft(t.Context(), d.Ref())
	require.NoError(t, err)
	for _, p := range pieces {
		require.NoError(t, w.Append(t.Context(), p))
		// Both sweep: the other one at its start, this one after the deletion.
		other := open(t, url)
		gone := storagetest.NewSession("", "gone", "u").Texts(2)
		require.NoError(t, s.CreateSession(t.Context(), &gone.Commit))
		require.NoError(t, s.DeleteSession(t.Context(), "", "gone"))
		require.NoError(t, other.Close())
	}
	require.NoError(t, w.Create(t.Context(), last))
	messages, err := s.Messages(t.Context(), d.Ref(), 0, 1000, 0)
	require.NoError(t, err)
	require.Len(t, messages, len(d.Messages))
	requireNothingLeft(t, url)
}

// A session whose last answer is lost was created, and its draft is no more.
func TestDraftWhoseAnswerIsLost(t *testing.T) {
	database := postgrestest.Shared(t).Database(t)
	p, url := postgrestest.Through(t, database)
	var swallowing, swallowed atomic.Bool
	p.Swallow(func(answer []byte) bool {
		if !bytes.HasSuffix(answer, []byte("Z\x00\x00\x00\x05I")) || !bytes.Contains(answer, []byte("DELETE 1\x00")) ||
			!swallowing.CompareAndSwap(true, false) {
			return false
		}
		swallowed.Store(true)
		return true
	})
	s := open(t, url)
	d := storagetest.Long("", "s", "u")
	pieces, last := storagetest.Split(d, 4, 2)
	w, err := s.Draft(t.Context(), d.Ref())
	require.NoError(t, err)
	for _, p := range pieces {
		require.NoError(t, w.Append(t.Context(), p))
	}
	swallowing.Store(true)
	require.NoError(t, w.Create(t.Context(), last))
	require.True(t, swallowed.Load(), "the answer was kept back")
	messages, err := s.Messages(t.Context(), d.Ref(), 0, 1000, 0)
	require.NoError(t, err)
	require.Len(t, messages, len(d.Messages))
	requireNothingLeft(t, database)
}

// Where connections end at any byte, a session that is written in pieces is there whole or not at all, and nothing is left of
// those that are not.
func TestCutConnectionsOfDrafts(t *testing.T) {
	database := postgrestest.Shared(t).Database(t)
	p, url := postgrestest.Through(t, database)
	direct := open(t, database)
	cut := open(t, url)
	p.CutAfter(func() int64 { return 3000 + rand.Int64N(60_000) })
	p.Close()
	p.Listen()
	rounds := 40
	if testing.Short() {
		rounds = 12
	}
	made := 0
	for n := range rounds {
		d := storagetest.NewSession("", fmt.Sprint(n), "u").Texts(30).Prune(1, 2).Texts(30).Compaction(5, "summary")
		pieces, last := storagetest.Split(d, 5, 3)
		err := func() error {
			w, err := cut.Draft(t.Context(), d.Ref())
			if err != nil {
				return err
			}
			defer w.Discard(t.Context())
			for _, p := range pieces {
				if err := w.Append(t.Context(), p); err != nil {
					return err
				}
			}
			return w.Create(t.Context(), last)
		}()
		messages, readErr := direct.Messages(t.Context(), d.Ref(), 0, 1000, 0)
		if err == nil {
			made++
			require.NoError(t, readErr)
		} else {
			require.ErrorIs(t, err, storage.ErrDisk)
		}
		if !errors.Is(readErr, storage.ErrNotFound) {
			require.Len(t, messages, len(d.Messages))
		}
	}
	require.Positive(t, made, "some get through")
	p.CutAfter(nil)
	require.NoError(t, cut.Close())
	// Another daemon that starts removes what is left.
	open(t, database)
	requireNothingLeft(t, database)
}
