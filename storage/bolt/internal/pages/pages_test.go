package pages_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/compactord/compactord/storage/bolt/internal/pages"
)

// model is what the buckets of a file hold.
type model map[string]map[string]string

// change makes random changes of a random kind: keys at the end, anywhere, or long runs of removals, which join pages.
func (m model) change(r *rand.Rand, tx *bbolt.Tx) error {
	name := fmt.Sprintf("bucket-%d", r.IntN(4))
	bucket, err := tx.CreateBucketIfNotExists([]byte(name))
	if err != nil {
		return err
	}
	bucket.FillPercent = 0.9
	if m[name] == nil {
		m[name] = map[string]string{}
	}
	put := func(key string, size int) error {
		m[name][key] = string(bytes.Repeat([]byte{byte(r.IntN(256))}, size))
		return bucket.Put([]byte(key), []byte(m[name][key]))
	}
	switch kind := r.IntN(5); kind {
	case 0, 1:
		for range r.IntN(300) {
			if err := put(fmt.Sprintf("%06d", r.IntN(3000)), r.IntN(1+100*kind*kind)); err != nil {
				return err
			}
		}
	case 2:
		return put(fmt.Sprintf("%06d", r.IntN(3000)), r.IntN(40000))
	case 3:
		for range r.IntN(50) {
			if err := put(fmt.Sprintf("%06d-%0*d", r.IntN(3000), 1+r.IntN(900), 7), r.IntN(20)); err != nil {
				return err
			}
		}
	case 4:
		keys := slices.Sorted(maps.Keys(m[name]))
		from := r.IntN(len(keys) + 1)
		for _, key := range keys[from:min(len(keys), from+r.IntN(1+len(keys)))] {
			if r.IntN(8) == 0 {
				continue
			}
			delete(m[name], key)
			if err := bucket.Delete([]byte(key)); err != nil {
				return err
			}
		}
	}
	return nil
}

// snapshot returns the newest snapshot of a file that nothing writes.
func snapshot(t *testing.T, path string) *pages.Snapshot {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, file.Close()) })
	var newest pages.Meta
	page := make([]byte, os.Getpagesize())
	for i := range int64(2) {
		_, err := file.ReadAt(page, i*int64(len(page)))
		require.NoError(t, err)
		m, ok := pages.ParseMeta(page)
		require.True(t, ok)
		if m.Transaction >= newest.Transaction {
			newest = m
		}
	}
	return pages.Stored(file, newest)
}

// All that bbolt writes is sound, and reads as bbolt reads it.
func TestReadsWhatBboltWrites(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			path := filepath.Join(t.TempDir(), "bolt.db")
			db, err := bbolt.Open(path, 0o600, &bbolt.Options{FreelistType: bbolt.FreelistMapType, NoSync: true})
			require.NoError(t, err)
			m := model{}
			for range 60 {
				require.NoError(t, db.Update(func(tx *bbolt.Tx) error {
					for range 1 + r.IntN(3) {
						if err := m.change(r, tx); err != nil {
							return err
						}
					}
					return nil
				}))
				s := snapshot(t, path)
				requireSound(t, s)
				requireSame(t, r, s, m)
			}
			require.NoError(t, db.Close())
		})
	}
}

func requireSound(t *testing.T, s *pages.Snapshot) {
	t.Helper()
	used := s.Walk(func() bool { return false }, func(bucket string, err error) {
		t.Errorf("bucket %s: %v", bucket, err)
	})
	require.True(t, used.Whole())
	require.NoError(t, s.CheckFreelist(used))
}

// requireSame compares what the cursor finds, from random places on and back, with the model.
func requireSame(t *testing.T, r *rand.Rand, s *pages.Snapshot, m model) {
	t.Helper()
	names, err := s.Names()
	require.NoError(t, err)
	require.Equal(t, slices.Sorted(maps.Keys(m)), names)
	for name, content := range m {
		tree, err := s.Bucket([]byte(name))
		require.NoError(t, err)
		keys := slices.Sorted(maps.Keys(content))
		for range 5 {
			sought := fmt.Sprintf("%06d", r.IntN(3100))
			at, _ := slices.BinarySearch(keys, sought)
			c := tree.Cursor()
			key, value, err := c.Seek([]byte(sought))
			for _, want := range keys[at:min(len(keys), at+100)] {
				require.NoError(t, err)
				require.Equal(t, want, string(key))
				require.Equal(t, content[want], string(value))
				key, value, err = c.Next()
			}
			require.NoError(t, err)
			if at+100 >= len(keys) {
				require.Nil(t, key)
			}
			key, _, err = tree.Cursor().Before([]byte(sought))
			require.NoError(t, err)
			if at == 0 {
				require.Nil(t, key)
			} else {
				require.Equal(t, keys[at-1], string(key))
			}
			// The tree's own cursor stands wherever the calls before have left it.
			for range 2 {
				_, key, _, err = tree.Find([]byte(sought))
				require.NoError(t, err)
				if at < len(keys) {
					require.Equal(t, keys[at], string(key))
				} else {
					require.Nil(t, key)
				}
			}
			require.NoError(t, tree.Verify([]byte(sought)))
			if at < len(keys) {
				require.NoError(t, tree.VerifyAround([]byte(keys[at])))
			}
		}
	}
	missing, err := s.Bucket([]byte("no bucket"))
	require.NoError(t, err)
	require.Nil(t, missing)
}
