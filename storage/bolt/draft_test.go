package boltstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/storagetest"
)

// keysOfLogs returns how many keys the buckets of logs and of dead logs have.
func keysOfLogs(t *testing.T, s *Store) (keys int) {
	t.Helper()
	require.NoError(t, s.view(t.Context(), func(tx *transaction) error {
		for _, name := range append(logBuckets, deadBucket) {
			keys += tx.bolt.Bucket(name).Stats().KeyN
		}
		return nil
	}))
	return keys
}

// writeLong writes a session in pieces of so many messages and records.
func writeLong(ctx context.Context, s *Store, d *storagetest.Draft, each int) error {
	pieces, last := storagetest.Split(d, each, 2)
	w, err := s.Draft(ctx, d.Ref())
	if err != nil {
		return err
	}
	defer w.Discard(ctx)
	for _, p := range pieces {
		if err := w.Append(ctx, p); err != nil {
			return err
		}
	}
	return w.Create(ctx, last)
}

// appended returns a draft to which all pieces are appended.
func appended(t *testing.T, s *Store, d *storagetest.Draft, each int) (w storage.Draft, last *storage.Commit) {
	t.Helper()
	pieces, last := storagetest.Split(d, each, 2)
	w, err := s.Draft(t.Context(), d.Ref())
	require.NoError(t, err)
	for _, p := range pieces {
		require.NoError(t, w.Append(t.Context(), p))
	}
	return w, last
}

// While a session is written in pieces, deleted logs are removed, and a check and a copy find nothing wrong, and nothing of it.
func TestDraftBesideUpkeep(t *testing.T) {
	s := openNew(t, Options{})
	d := storagetest.Long("", "s", "u")
	w, last := appended(t, s, d, 4)
	held := keysOfLogs(t, s)
	gone := storagetest.NewSession("", "gone", "u").Texts(2 * sweepKeys)
	require.NoError(t, s.CreateSession(t.Context(), &gone.Commit))
	require.NoError(t, s.DeleteSession(t.Context(), "", "gone"))
	require.Eventually(t, func() bool { return keysOfLogs(t, s) == held }, waitLimit, waitTick)
	problems, err := s.CheckStructure(t.Context())
	require.NoError(t, err)
	require.Empty(t, problems)

	path := filepath.Join(t.TempDir(), "copy.db")
	copied, err := s.Copy(t.Context(), path, nil)
	require.NoError(t, err)
	require.Zero(t, copied.Sessions)
	requireSound(t, path)
	require.Zero(t, keysOfLogs(t, openAt(t, path, Options{})))

	require.NoError(t, w.Create(t.Context(), last))
	require.NoError(t, s.Close())
	requireSound(t, s.path)
	messages, err := openAt(t, s.path, Options{}).Messages(t.Context(), d.Ref(), 0, 1000, 0)
	require.NoError(t, err)
	require.Len(t, messages, len(d.Messages))
}

// What is left of a session that was never finished is removed, by the process itself and by the next one.
func TestDraftIsSwept(t *testing.T) {
	s := openNew(t, Options{})
	w, _ := appended(t, s, storagetest.Long("", "s", "u").Texts(2*sweepKeys), sweepKeys)
	w.Discard(t.Context())
	require.Eventually(t, func() bool { return keysOfLogs(t, s) == 0 }, waitLimit, waitTick)

	appended(t, s, storagetest.Long("", "s", "u").Texts(2*sweepKeys), sweepKeys)
	require.NoError(t, s.Close())
	requireSound(t, s.path)
	s = openAt(t, s.path, Options{})
	require.Eventually(t, func() bool { return keysOfLogs(t, s) == 0 }, waitLimit, waitTick)
}

// A session that was written in pieces is rebuilt from a damaged file, although older copies of a page say that its ordinal
// belongs to none.
func TestRebuildOfADraft(t *testing.T) {
	marked := false
	for seed := range uint64(10) {
		random := rand.New(rand.NewPCG(seed, 1))
		s := openNew(t, Options{})
		d := storagetest.Long("", "s", "u")
		w, last := appended(t, s, d, 4)
		begun, ok := w.(*draft)
		require.True(t, ok)
		require.NoError(t, w.Create(t.Context(), last))
		row := d.Session
		for range random.IntN(3) {
			next := storagetest.Next(row).Text("on")
			require.NoError(t, s.Commit(t.Context(), &next.Commit))
			row = next.Session
		}
		require.NoError(t, s.Close())
		content, err := os.ReadFile(s.path)
		require.NoError(t, err)
		marked = marked || bytes.Contains(content, seal(deadBucket, ordinalKey(begun.ordinal), draftMark))
		again, sessions := rebuilt(t, s.path)
		require.Equal(t, 1, sessions)
		messages, err := again.Messages(t.Context(), d.Ref(), 0, 1000, 0)
		require.NoError(t, err)
		require.Len(t, messages, int(row.GetHead().GetNextIndex()))
		require.NoError(t, again.Close())
	}
	require.True(t, marked, "an older copy of the page is left in the file")
}

// longOnes writes sessions in pieces until the process is killed, and deletes every other one.
func longOnes(ctx context.Context, s *Store) error {
	for n := 0; ; n++ {
		id := fmt.Sprint("long ", n%4)
		if err := s.DeleteSession(ctx, "", id); err != nil && !errors.Is(err, storage.ErrNotFound) {
			return err
		}
		if err := writeLong(ctx, s, storagetest.Long("", id, fmt.Sprint("u", n)), 4); err != nil {
			return err
		}
	}
}

// requireLong requires that those that are there are whole.
func requireLong(t *testing.T, s *Store) (found int) {
	t.Helper()
	for n := range 4 {
		row, err := s.Session(t.Context(), "", fmt.Sprint("long ", n))
		if err != nil {
			require.ErrorIs(t, err, storage.ErrNotFound)
			continue
		}
		want := storagetest.Long("", row.GetSessionId(), row.GetUid())
		require.True(t, proto.Equal(want.Session, row))
		messages, err := s.Messages(t.Context(), storage.RefOf(row), 0, 1000, 0)
		require.NoError(t, err)
		require.Len(t, messages, len(want.Messages))
		found++
	}
	return found
}
