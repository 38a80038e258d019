package boltstore

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/bolt/internal/pages"
)

// listState returns whether a file has a list of free pages, and whether it is sealed: then it is opened without
// reading the rest.
func listState(t *testing.T, path string) (listed, sealed bool) {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	snapshot, err := newestSnapshot(file)
	require.NoError(t, err)
	listed, sealed = snapshot.HasList(), snapshot.HasSealedList()
	require.NoError(t, file.Close())
	return listed, sealed
}

// flip changes a bit of a file.
func flip(t *testing.T, path string, offset int64, bit int) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	var b [1]byte
	_, err = file.ReadAt(b[:], offset)
	require.NoError(t, err)
	b[0] ^= 1 << bit
	_, err = file.WriteAt(b[:], offset)
	require.NoError(t, err)
	require.NoError(t, file.Close())
}

// What was written is opened without a look at all pages, and opening changes nothing.
func TestOpeningTrustsASealedList(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	busyStore(t, path)
	listed, sealed := listState(t, path)
	require.True(t, listed)
	require.True(t, sealed)
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	s, err := Open(path, Options{})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, bytes.Equal(before, after))
}

// A list of free pages that is missing, has no seal, or is damaged in any bit never makes a commit overwrite a page in
// use.
func TestListsThatCannotBeTrusted(t *testing.T) {
	source := filepath.Join(t.TempDir(), "store.db")
	want := busyStore(t, source)
	sound, err := os.ReadFile(source)
	require.NoError(t, err)
	var list pages.Meta
	file, err := os.Open(source)
	require.NoError(t, err)
	list, err = pages.NewestMeta(file)
	require.NoError(t, err)
	require.NoError(t, file.Close())
	start := int64(list.Freelist) * int64(list.PageSize)

	damages := map[string]func(path string){
		"missing": func(path string) {
			db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoFreelistSync: true})
			require.NoError(t, err)
			require.NoError(t, db.Update(func(tx *bbolt.Tx) error {
				return tx.Bucket(deadBucket).Put(ordinalKey(1<<40), seal(deadBucket, ordinalKey(1<<40), nil))
			}))
			require.NoError(t, db.Update(func(tx *bbolt.Tx) error { return tx.Bucket(deadBucket).Delete(ordinalKey(1 << 40)) }))
			require.NoError(t, db.Close())
			listed, _ := listState(t, path)
			require.False(t, listed)
		},
	}
	for _, offset := range []int64{0, 8, 10, 12, 16, 17, 24, 32, 40} {
		for bit := range 8 {
			name := string(rune('a'+bit)) + string(rune('0'+offset))
			damages[name] = func(path string) {
				flip(t, path, start+offset, bit)
				_, sealed := listState(t, path)
				require.False(t, sealed)
			}
		}
	}
	for name, damage := range damages {
		path := filepath.Join(t.TempDir(), "store.db")
		require.NoError(t, os.WriteFile(path, sound, 0o600))
		damage(path)
		require.True(t, appendToDamaged(t, name, path, want, nil), name)
		requireSound(t, path)
		_, sealed := listState(t, path)
		require.True(t, sealed, name)
	}
}

// A damaged header that may be the newer one is an error, since the last commit would be lost without a word. The older
// one is not needed.
func TestDamagedHeaders(t *testing.T) {
	source := filepath.Join(t.TempDir(), "store.db")
	want := busyStore(t, source)
	sound, err := os.ReadFile(source)
	require.NoError(t, err)
	file, err := os.Open(source)
	require.NoError(t, err)
	newest, err := pages.NewestMeta(file)
	require.NoError(t, err)
	require.NoError(t, file.Close())
	for header := range uint64(2) {
		for offset := int64(16); offset < 80; offset += 5 {
			path := filepath.Join(t.TempDir(), "store.db")
			require.NoError(t, os.WriteFile(path, sound, 0o600))
			flip(t, path, int64(header)*int64(newest.PageSize)+offset, int(offset%8))
			s, err := Open(path, Options{ReadOnly: true})
			if err == nil {
				found, err := s.CheckStructure(t.Context())
				require.NoError(t, err)
				require.NotEmpty(t, found, "header %d, byte %d", header, offset)
				require.NoError(t, s.Close())
			}
			if header == newest.Transaction%2 {
				require.ErrorIs(t, err, storage.ErrCorrupt, "byte %d", offset)
				_, err = Open(path, Options{})
				require.ErrorIs(t, err, storage.ErrCorrupt, "byte %d", offset)
			} else if offset < 64 || offset >= 72 {
				require.NoError(t, err, "byte %d", offset)
				require.True(t, appendToDamaged(t, "", path, want, nil))
				requireSound(t, path)
			}
		}
	}
}
