package boltstore

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/storagetest"
)

// Of a file that was cut short anywhere, each session is read whole of which all values are left, also where no page leads
// to them; what is read of the others is the beginning of their logs.
func TestRebuildOfFilesCutShort(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	want := busyStore(t, path)
	sound, err := os.ReadFile(path)
	require.NoError(t, err)
	sound = sound[:needed(t, path)]
	left := lastByteOf(t, path, sound)
	r := rand.New(rand.NewPCG(3, 4))
	whole := 0
	for n := range 40 {
		// Hardly anything is left before the first quarter.
		cut := len(sound)/4 + r.IntN(len(sound)*3/4)
		if testing.Short() && n%2 > 0 {
			continue
		}
		require.NoError(t, os.WriteFile(path, sound[:cut], 0o600))
		s, sessions := rebuilt(t, path)
		rows, _, err := s.Sessions(t.Context(), storage.SessionQuery{Limit: 1000})
		require.NoError(t, err)
		require.LessOrEqual(t, len(rows), sessions)
		for id, content := range want {
			what := fmt.Sprintf("%s, %d bytes of %d", id, cut, len(sound))
			got := readContent(t, s, id, nil)
			requireBeginning(t, what, got, content)
			if left[id] <= cut {
				require.Empty(t, got.errs, what)
				require.True(t, proto.Equal(content.row, got.row), what)
				require.True(t, sameAll(got.messages, content.messages) && sameAll(got.records, content.records), what)
				require.True(t, sameEdits(got.edits, content.edits), what)
				whole++
			}
		}
		require.NoError(t, s.Close())
	}
	t.Logf("%d sessions whole", whole)
	require.Positive(t, whole)
}

// lastByteOf returns where the last value of each session ends, when each value is taken from the first place that it has
// in the file.
func lastByteOf(t *testing.T, path string, file []byte) map[string]int {
	t.Helper()
	ends := map[string]int{}
	meta(t, path, func(tx *bbolt.Tx) error {
		owner := map[uint64]string{}
		note := func(id string, key, value []byte) {
			at := bytes.Index(file, append(bytes.Clone(key), value...))
			require.Positive(t, at)
			ends[id] = max(ends[id], at+len(key)+len(value))
		}
		require.NoError(t, tx.Bucket(sessionsBucket).ForEach(func(key, value []byte) error {
			header, row, err := decodeRow(value[sealSize:])
			owner[header.ordinal] = row.GetSessionId()
			note(row.GetSessionId(), key, value)
			return err
		}))
		for _, name := range [][]byte{messagesBucket, recordsBucket, compactionsBucket, editsBucket, blobsBucket} {
			require.NoError(t, tx.Bucket(name).ForEach(func(key, value []byte) error {
				ordinal, err := keyOrdinal(key)
				if id := owner[ordinal]; id != "" {
					note(id, key, value)
				}
				return err
			}))
		}
		return nil
	})
	return ends
}

// rebuilt opens what Rebuild makes of a file, and returns how many sessions that has.
func rebuilt(t *testing.T, path string) (*Store, int) {
	t.Helper()
	to := filepath.Join(t.TempDir(), "rebuilt.db")
	sessions, _, err := Rebuild(t.Context(), path, to, nil)
	require.NoError(t, err)
	s, err := Open(to, Options{ReadOnly: true})
	require.NoError(t, err)
	return s, sessions
}

// requireBeginning requires that no message or record is another one than there was.
func requireBeginning(t *testing.T, what string, got reading, want *content) {
	t.Helper()
	require.LessOrEqual(t, len(got.messages), len(want.messages), what)
	require.True(t, sameAll(got.messages, want.messages[:len(got.messages)]), what)
	records := map[uint32]proto.Message{}
	for _, r := range want.records {
		records[r.GetRecord().GetSequence()] = r
	}
	for _, r := range got.records {
		require.True(t, proto.Equal(r, records[r.GetRecord().GetSequence()]), what)
	}
}

// A file whose headers are gone, or the page with the names of its buckets, is rebuilt whole.
func TestRebuildWithoutHeadersAndNames(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	want := busyStore(t, path)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	var names int
	meta(t, path, func(tx *bbolt.Tx) error {
		names = int(tx.Cursor().Bucket().RootPage())
		return nil
	})
	size := os.Getpagesize()
	for _, gone := range [][2]int{{0, 2}, {names, names + 1}} {
		damaged := bytes.Clone(data)
		clear(damaged[gone[0]*size : gone[1]*size])
		require.NoError(t, os.WriteFile(path, damaged, 0o600))
		_, err := Open(path, Options{ReadOnly: true, Damaged: true})
		require.ErrorIs(t, err, storage.ErrCorrupt)
		s, sessions := rebuilt(t, path)
		require.GreaterOrEqual(t, sessions, len(want))
		for id, content := range want {
			got := readContent(t, s, id, nil)
			require.Empty(t, got.errs)
			require.True(t, proto.Equal(content.row, got.row))
			require.True(t, sameAll(got.messages, content.messages) && sameAll(got.records, content.records))
		}
		require.NoError(t, s.Close())
	}
}

// A session whose log was being removed is not there again.
func TestRebuildWithoutTheDead(t *testing.T) {
	path, copied := filepath.Join(t.TempDir(), "store.db"), filepath.Join(t.TempDir(), "copy.db")
	deleting := false
	s, err := Open(path, Options{synced: func([]change) {
		if deleting {
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(copied, data, 0o600))
		}
	}})
	require.NoError(t, err)
	for _, id := range []string{"gone", "stays"} {
		d := storagetest.NewSession("", id, "uid-"+id).Texts(sweepKeys + 100)
		require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
	}
	deleting = true
	require.NoError(t, s.DeleteSession(t.Context(), "", "gone"))
	require.NoError(t, s.Close())
	again, sessions := rebuilt(t, copied)
	require.Equal(t, 1, sessions)
	names, _, err := again.Names(t.Context())
	require.NoError(t, err)
	require.Equal(t, []storage.Ref{{SessionID: "stays"}}, names)
	require.NoError(t, again.Close())
}

// Where of a row only an older one is left, all that is left of its log can be read, and does not look whole.
func TestRebuildOfOlderRow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	key := sessionKey("", "s")
	row := func(change func(b *bbolt.Bucket) error) (sealed []byte) {
		meta(t, path, func(tx *bbolt.Tx) error {
			sealed = bytes.Clone(tx.Bucket(sessionsBucket).Get(key))
			return change(tx.Bucket(sessionsBucket))
		})
		return sealed
	}
	keep := func(*bbolt.Bucket) error { return nil }
	d := storagetest.NewSession("", "s", "uid-s").Texts(3)
	var older []byte
	for n := range 2 {
		s, err := Open(path, Options{})
		require.NoError(t, err)
		if n == 0 {
			require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
		} else {
			d = storagetest.Next(d.Session).Texts(5)
			require.NoError(t, s.Commit(t.Context(), &d.Commit))
		}
		require.NoError(t, s.Close())
		if n == 0 {
			older = row(keep)
		}
	}
	newest := row(func(b *bbolt.Bucket) error { return b.Put(key, older) })
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	data = bytes.ReplaceAll(data, newest, make([]byte, len(newest)))
	// Of two copies of a message, the sound one is taken.
	require.Equal(t, 2, bytes.Count(data, []byte("message 0")))
	data[bytes.Index(data, []byte("message 0"))] ^= 1
	require.NoError(t, os.WriteFile(path, data, 0o600))

	s, sessions := rebuilt(t, path)
	require.Equal(t, 1, sessions)
	got := readContent(t, s, "s", nil)
	require.Empty(t, got.errs)
	require.Len(t, got.messages, 8)
	require.Greater(t, got.row.GetHead().GetNextSequence(), d.Session.GetHead().GetNextSequence())
	require.NoError(t, s.Close())
}
