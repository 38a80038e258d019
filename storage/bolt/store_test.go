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
	"github.com/compactord/compactord/storage/storagetest"
)

// How long a test waits for what must come, and how often it looks. Neither decides what the test finds.
const (
	waitLimit = 30 * time.Second
	waitTick  = time.Millisecond
)

func TestMain(m *testing.M) {
	if path := os.Getenv(crashEnv); path != "" {
		crashChild(path)
		return
	}
	goleak.VerifyTestMain(m)
}

// openAt opens a store that the test leaves behind sound: it is checked, by bbolt and by us, when the test ends.
func openAt(t testing.TB, path string, options Options) *Store {
	t.Helper()
	s, err := Open(path, options)
	require.NoError(t, err)
	require.False(t, s.db.NoSync, "what is acknowledged must be on disk")
	t.Cleanup(func() {
		require.NoError(t, s.Close())
		requireSound(t, path)
	})
	return s
}

func openNew(t testing.TB, options Options) *Store {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "store.db"), options)
}

// requireSound checks a store that is closed.
func requireSound(t testing.TB, path string) {
	t.Helper()
	s, err := Open(path, Options{ReadOnly: true})
	require.NoError(t, err)
	// The test's own context is over when it cleans up.
	problems, err := s.CheckStructure(context.WithoutCancel(t.Context()))
	require.NoError(t, err)
	require.Empty(t, problems)
	require.NoError(t, s.Close())
}

func TestConformance(t *testing.T) {
	storagetest.Run(t, storagetest.Backend{
		Open: func(t *testing.T) storage.Store { return openNew(t, Options{}) },
		Reopen: func(t *testing.T, s storage.Store) storage.Store {
			path := s.(*Store).path
			require.NoError(t, s.Close())
			return openAt(t, path, Options{})
		},
	})
}
