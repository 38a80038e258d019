package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStubs(t *testing.T) {
	write := func(folder, path, text string) {
		name := filepath.Join(folder, filepath.FromSlash(path))
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
	committed, fresh := t.TempDir(), t.TempDir()
	write(committed, "a/v1/same.pb.go", "same")
	write(fresh, "a/v1/same.pb.go", "same")
	write(committed, "a/v1/changed.pb.go", "old")
	write(fresh, "a/v1/changed.pb.go", "new")
	write(committed, "b/gone.pb.go", "")
	write(fresh, "a/v1/new.pb.go", "")
	write(committed, "a/v1/same.proto", "not generated")
	write(committed, "a/v1/names.go", "written by hand")

	mine, err := readStubs(committed)
	require.NoError(t, err)
	theirs, err := readStubs(fresh)
	require.NoError(t, err)
	require.Equal(t, []string{"a/v1/changed.pb.go", "a/v1/new.pb.go", "b/gone.pb.go"}, mine.differences(theirs))
	require.Empty(t, mine.differences(mine))

	_, err = readStubs(filepath.Join(fresh, "nowhere"))
	require.ErrorIs(t, err, os.ErrNotExist, "what generated nothing must not look like protos that are gone")
}
