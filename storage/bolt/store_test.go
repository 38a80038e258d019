package boltstore

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/keyring"
	"github.com/compactord/compactord/storage/storagetest"
)

// How long a test waits, and how often it looks. Neither changes the result of the test.
const (
	waitLimit = 10 * time.Minute
	waitTick  = time.Millisecond
)

func TestMain(m *testing.M) {
	if path := os.Getenv(crashEnv); path != "" {
		crashChild(path)
		return
	}
	if path := os.Getenv(rotateEnv); path != "" {
		rotateChild(path)
		return
	}
	goleak.VerifyTestMain(m)
}

// openAt opens a store that must be sound when the test ends: bbolt and CheckStructure check it then.
func openAt(tb testing.TB, path string, options Options) *Store {
	tb.Helper()
	s, err := Open(path, options)
	require.NoError(tb, err)
	require.False(tb, s.db.NoSync, "what is acknowledged must be on disk")
	tb.Cleanup(func() {
		require.NoError(tb, s.Close())
		requireSoundWith(tb, path, options.Keys)
	})
	return s
}

func openNew(tb testing.TB, options Options) *Store {
	tb.Helper()
	return openAt(tb, filepath.Join(tb.TempDir(), "store.db"), options)
}

// requireSound checks a store that is closed.
func requireSound(tb testing.TB, path string) {
	tb.Helper()
	requireSoundWith(tb, path, nil)
}

func requireSoundWith(tb testing.TB, path string, keys *keyring.Ring) {
	tb.Helper()
	s, err := Open(path, Options{ReadOnly: true, Keys: keys})
	require.NoError(tb, err)
	// The test's own context has ended at the cleanup.
	problems, err := s.CheckStructure(context.WithoutCancel(tb.Context()))
	require.NoError(tb, err)
	require.Empty(tb, problems)
	require.NoError(tb, s.Close())
}

func TestConformance(t *testing.T) {
	storagetest.Run(t, storagetest.Backend{
		Open: func(t *testing.T) storage.Store {
			t.Helper()
			return openNew(t, Options{})
		},
		Reopen: func(t *testing.T, s storage.Store) storage.Store {
			t.Helper()
			path := fileOf(t, s)
			require.NoError(t, s.Close())
			return openAt(t, path, Options{})
		},
	})
}

// fileOf returns the path of a store of this package.
func fileOf(t *testing.T, s storage.Store) string {
	t.Helper()
	store, ok := s.(*Store)
	require.True(t, ok)
	return store.path
}
