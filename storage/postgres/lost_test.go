package postgres_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/postgres"
	"github.com/compactord/compactord/storage/postgres/postgrestest"
	"github.com/compactord/compactord/storage/storagetest"
)

// appender appends messages to a session, each once, and remembers which were acknowledged.
type appender struct {
	id           string
	acknowledged map[string]bool
	refused      map[string]bool
}

// append appends a text until that is acknowledged or refused.
func (a *appender) append(t *testing.T, s *postgres.Store, text string) {
	t.Helper()
	for {
		row, err := s.Session(t.Context(), "", a.id)
		if err == nil {
			err = s.Commit(t.Context(), &storagetest.Next(row).Text(text).Remember(text).Commit)
		}
		switch {
		case err == nil:
			a.acknowledged[text] = true
			return
		case errors.Is(err, storage.ErrRequestKnown):
			t.Errorf("%s was refused as unknown and is known", text)
			return
		case errors.Is(err, storage.ErrConflict):
			// Another writer was faster.
		case errors.Is(err, storage.ErrDisk):
			a.refused[text] = true
			return
		default:
			t.Errorf("unexpected: %v", err)
			return
		}
	}
}

// check requires that what was acknowledged is there once, and all else at most once.
func check(t *testing.T, s *postgres.Store, id string, writers ...*appender) {
	t.Helper()
	row, err := s.Session(t.Context(), "", id)
	require.NoError(t, err)
	messages, err := s.Messages(t.Context(), storage.RefOf(row), 0, 1<<32-1, 0)
	require.NoError(t, err)
	count := map[string]int{}
	for _, m := range messages {
		text := m.GetMessage().GetParts()[0].GetText().GetText()
		count[text]++
		require.Equal(t, 1, count[text], text)
	}
	for _, w := range writers {
		for text := range w.acknowledged {
			require.Equal(t, 1, count[text], "acknowledged: %s", text)
		}
		for text := range w.acknowledged {
			require.False(t, w.refused[text], text)
		}
	}
}

// Connections that end at any byte lose and double nothing: an append that was acknowledged is there once, any other at
// most once. Two stores write to the same sessions.
func TestCutConnectionsLoseAndDoubleNothing(t *testing.T) {
	database := postgrestest.Shared(t).Database(t)
	p, url := postgrestest.Through(t, database)
	direct := open(t, database)
	cut := open(t, url)
	p.CutAfter(func() int64 { return 3000 + rand.Int64N(30_000) })
	// The connections there are were made before.
	p.Close()
	p.Listen()

	const sessions = 4
	each := 60
	if testing.Short() {
		each = 25
	}
	var wg sync.WaitGroup
	writers := make([][]*appender, sessions)
	for n := range sessions {
		id := fmt.Sprint(n)
		require.NoError(t, direct.CreateSession(t.Context(), &storagetest.NewSession("", id, "u").Commit))
		for w, s := range []*postgres.Store{cut, cut, direct} {
			a := &appender{id: id, acknowledged: map[string]bool{}, refused: map[string]bool{}}
			writers[n] = append(writers[n], a)
			wg.Go(func() {
				for i := range each {
					a.append(t, s, fmt.Sprintf("%d.%d", w, i))
				}
			})
		}
	}
	wg.Wait()
	acknowledged := 0
	for n := range sessions {
		check(t, direct, fmt.Sprint(n), writers[n]...)
		acknowledged += len(writers[n][0].acknowledged) + len(writers[n][1].acknowledged)
	}
	require.Positive(t, acknowledged, "some get through")
}

// A commit whose answer is lost was written: it is found there, and not written again.
func TestCommitWhoseAnswerIsLost(t *testing.T) {
	database := postgrestest.Shared(t).Database(t)
	p, url := postgrestest.Through(t, database)
	// An answer that says that two rows were inserted and that the transaction is over.
	var swallowing, swallowed atomic.Bool
	p.Swallow(func(answer []byte) bool {
		commits := bytes.Contains(answer, []byte("INSERT 0 2\x00")) && bytes.HasSuffix(answer, []byte("Z\x00\x00\x00\x05I"))
		if !commits || !swallowing.CompareAndSwap(true, false) {
			return false
		}
		swallowed.Store(true)
		return true
	})
	s := open(t, url)
	d := storagetest.NewSession("", "s", "u")
	require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
	swallowing.Store(true)
	require.NoError(t, s.Commit(t.Context(), &storagetest.Next(d.Session).Text("one").Text("another").Remember("r").Commit))
	require.True(t, swallowed.Load(), "the answer was kept back")
	messages, err := s.Messages(t.Context(), d.Ref(), 0, 10, 0)
	require.NoError(t, err)
	require.Len(t, messages, 2)
}
