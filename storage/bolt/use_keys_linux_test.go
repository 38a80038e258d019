package boltstore

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/storagetest"
)

// Where a commit that names a key is seen, but may not be on the disk, the key before goes on to seal, and all can be read.
func TestUseKeysThatMayNotBeOnTheDisk(t *testing.T) {
	f, options := newFaultyFile(t)
	options.Keys, options.failed = keys(t, "a"), f.unusable
	path := filepath.Join(t.TempDir(), "store.db")
	s, want := busy(t, path, options)
	f.inject(s, once(true, syscall.ENOSPC, nil))
	require.ErrorIs(t, s.UseKeys(t.Context(), keys(t, "b", "a")), storage.ErrDisk)
	f.repair()
	d := storagetest.NewSession("", "after", "uid-after").Text("x")
	require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
	requireAll(t, s, want)
	require.Equal(t, "a", s.keys.Load().Sealing())
	older, err := s.OlderKeys(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"b"}, older, "the commit was seen")

	require.NoError(t, s.UseKeys(t.Context(), keys(t, "b", "a")))
	done, err := s.Rotate(t.Context(), RotateOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, done.Done)
	require.NoError(t, s.Close())
	s, err = Open(path, Options{Keys: keys(t, "b")})
	require.NoError(t, err)
	requireAll(t, s, want)
	require.NoError(t, s.Close())
}
