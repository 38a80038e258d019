package boltstore

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/storagetest"
)

// A commit that fails can leave its pages in free ones. They are overwritten once writes succeed again.
func TestOverwriteAfterAFailedCommit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	f, options := newFaultyFile(t)
	s, done := overwritingStore(t, path, options)
	grow(t, s, "kept", 20)
	settled(s, done)
	f.inject(s, func(start, end int64) (write, sync error) {
		if end-start > int64(3*os.Getpagesize()) {
			// The page of the text, of which a half is written.
			return syscall.EIO, nil
		}
		return nil, nil
	})
	d := storagetest.NewSession("", "gone", "uid-gone").Text(strings.Repeat("the secret of gone, ", 1000))
	require.ErrorIs(t, s.CreateSession(t.Context(), &d.Commit), storage.ErrDisk)
	require.NotZero(t, secretsIn(t, filepath.Dir(path), "gone"), "the test has nothing to show")
	f.repair()
	grow(t, s, "after", 5)
	require.NoError(t, s.Close())
	s, done = overwritingStore(t, path, Options{})
	settled(s, done)
	require.Zero(t, secretsIn(t, filepath.Dir(path), "gone"))
	require.NoError(t, s.Close())
	requireSound(t, path)
	requireGrown(t, path, "kept", 20)
}
