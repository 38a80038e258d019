package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestStale(t *testing.T) {
	pinned := time.Now().Add(-time.Hour)
	v := &verifier{root: t.TempDir()}
	write := func(name string, age time.Duration) {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, nil, 0o600))
		require.NoError(t, os.Chtimes(name, time.Time{}, pinned.Add(-age)))
	}
	_, err := v.stale([]string{"buf"})
	require.ErrorIs(t, err, os.ErrNotExist, "a clone without go.mod")

	write(filepath.Join(v.root, "tools", "go.mod"), time.Minute)
	write(filepath.Join(v.root, "tools", "go.sum"), 0)
	write(v.tool("newer"), -time.Second)
	write(v.tool("same"), 0)
	write(v.tool("between"), time.Second)
	write(v.tool("older"), time.Hour)
	stale, err := v.stale([]string{"older", "same", "missing", "newer", "between"})
	require.NoError(t, err)
	require.Equal(t, []string{"older", "missing", "between"}, stale)

	require.NoError(t, v.need(t.Context(), "newer", "same"), "nothing is to be built")
}

func TestFindRoot(t *testing.T) {
	root := t.TempDir()
	deep := filepath.Join(root, "tools", "verify")
	require.NoError(t, os.MkdirAll(deep, 0o755))
	_, err := findRoot(deep)
	require.ErrorContains(t, err, "not in a clone")

	require.NoError(t, os.WriteFile(filepath.Join(root, "tools", "go.mod"), nil, 0o600))
	for _, folder := range []string{root, filepath.Join(root, "tools"), deep} {
		found, err := findRoot(folder)
		require.NoError(t, err)
		require.Equal(t, root, found)
	}
}
