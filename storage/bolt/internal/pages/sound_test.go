package pages

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"
)

var soundBucket = []byte("bucket")

// No page that was written again is remembered, also where readers of older snapshots add pages late.
func TestSoundForgetsWhatIsWrittenAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bolt.db")
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{
		FreelistType: bbolt.FreelistMapType, NoSync: true, InitialMmapSize: 1 << 28,
	})
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(7, 8))
	require.NoError(t, db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucket(soundBucket)
		return err
	}))
	var sound *Sound
	remembered := map[uint64][]byte{}
	var readers []*bbolt.Tx
	longest, unlisted := 0, 0
	for step := range 400 {
		db.NoFreelistSync = step%100 > 60
		require.NoError(t, db.Update(func(tx *bbolt.Tx) error { return changeSome(r, tx) }))
		file, err := os.ReadFile(path)
		require.NoError(t, err)
		newest, err := db.Begin(false)
		require.NoError(t, err)
		readers = append(readers, newest)
		snapshot := snapshotOf(file, newest, nil)
		if sound == nil {
			sound = NewSound(snapshot)
		} else {
			// A reader that sees the commit before this does finds all pages, the new ones too.
			require.True(t, snapshotOf(file, newest, sound).Walk(
				func() bool { return false }, func(_ string, err error) { require.NoError(t, err, "step %d", step) }).Whole())
			sound.Committed(snapshot)
		}
		if used := sound.inUse.Load(); db.NoFreelistSync && step > 0 {
			unlisted++
			requireInUse(t, used, snapshot)
		} else {
			require.Nil(t, used, "step %d", step)
		}
		for _, tx := range readers {
			c := bucketOf(t, snapshotOf(file, tx, sound)).Cursor()
			_, _, err := c.Seek(fmt.Appendf(nil, "%05d", r.IntN(3000)))
			for range r.IntN(300) {
				require.NoError(t, err)
				_, _, err = c.Next()
			}
			require.NoError(t, err)
		}
		for id := range uint64(len(file) / os.Getpagesize()) {
			content := file[id*uint64(os.Getpagesize()):][:os.Getpagesize()]
			if !sound.has(id) {
				delete(remembered, id)
				continue
			}
			if before, ok := remembered[id]; ok {
				require.True(t, bytes.Equal(before, content), "step %d: page %d was written again", step, id)
			}
			remembered[id] = bytes.Clone(content)
		}
		longest = max(longest, len(remembered))
		for len(readers) > r.IntN(4) {
			i := r.IntN(len(readers))
			require.NoError(t, readers[i].Rollback())
			readers = append(readers[:i], readers[i+1:]...)
		}
	}
	require.Greater(t, longest, 50)
	require.Greater(t, unlisted, 100)
	for _, tx := range readers {
		require.NoError(t, tx.Rollback())
	}
	require.NoError(t, db.Close())
}

// requireInUse requires that all pages of a snapshot's trees are known to be in use, and none of the others that have been
// one of a tree.
func requireInUse(t *testing.T, used *inUse, s *Snapshot) {
	t.Helper()
	require.NotNil(t, used)
	trees := s.Used()
	require.True(t, trees.Whole())
	stale := 0
	for id := uint64(firstPage); id < s.meta.End; id++ {
		p, err := s.readPage(id)
		if err != nil {
			continue
		}
		if _, err := p.check(values); err != nil {
			continue
		}
		require.Equal(t, trees.has(id), used.has(id), "commit %d, page %d", used.commit, id)
		if !trees.has(id) {
			stale++
		}
	}
	require.Positive(t, stale)
	at := s.inUseNow()
	require.NotNil(t, at)
	for id := range s.meta.End {
		require.True(t, !at.has(id) || used.has(id), "page %d", id)
	}
}

func changeSome(r *rand.Rand, tx *bbolt.Tx) error {
	from := r.IntN(3000)
	for key := from; key < from+r.IntN(200); key++ {
		name := fmt.Appendf(nil, "%05d", key)
		if r.IntN(3) == 0 {
			if err := tx.Bucket(soundBucket).Delete(name); err != nil {
				return err
			}
			continue
		}
		if err := tx.Bucket(soundBucket).Put(name, bytes.Repeat([]byte{byte(r.Uint32())}, r.IntN(300))); err != nil {
			return err
		}
	}
	return nil
}

func snapshotOf(file []byte, tx *bbolt.Tx, sound *Sound) *Snapshot {
	root := uint64(tx.Cursor().Bucket().RootPage())
	s := Mapped(file[:tx.Size()], os.Getpagesize(), root, uint64(tx.ID()))
	s.Remember(sound)
	return s
}

func bucketOf(t *testing.T, s *Snapshot) *Tree {
	t.Helper()
	tree, err := s.Bucket(soundBucket)
	require.NoError(t, err)
	return tree
}
