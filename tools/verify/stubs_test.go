package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStubs(t *testing.T) {
	committed, fresh := t.TempDir(), t.TempDir()
	for path, text := range map[string]string{
		"go/a/same.pb.go":    "same",
		"go/a/changed.pb.go": "old",
		"go/b/gone.pb.go":    "",
		"go/a/same.proto":    "not generated",
		"go/a/names.go":      "written by hand",
		"py/v1/a_pb2.pyi":    "old",
		"py/v1/py.typed":     "written by hand",
		"py/v1/x.cache.pyc":  "",
		"ts/v1.ts":           "old",
		"ts/client.ts":       "written by hand",
	} {
		require.NoError(t, write(committed, path, text))
	}
	for path, text := range map[string]string{
		"go/a/same.pb.go":    "same",
		"go/a/changed.pb.go": "new",
		"go/a/new.pb.go":     "",
		"py/v1/a_pb2.pyi":    "new",
		"ts/v1.ts":           "new",
	} {
		require.NoError(t, write(fresh, path, text))
	}
	places := []place{
		{path: "go", suffixes: []string{".pb.go"}},
		{path: "py/v1", suffixes: []string{".py", ".pyi"}},
		{path: "ts/v1.ts"},
	}
	mine, err := readStubs(committed, places)
	require.NoError(t, err)
	theirs, err := readStubs(fresh, places)
	require.NoError(t, err)
	require.Equal(t, []string{"go/a/changed.pb.go", "go/a/new.pb.go", "go/b/gone.pb.go", "py/v1/a_pb2.pyi", "ts/v1.ts"},
		mine.differences(theirs))
	require.Empty(t, mine.differences(mine))

	_, err = readStubs(fresh, []place{{path: "nowhere"}})
	require.ErrorIs(t, err, os.ErrNotExist, "what generated nothing must not look like protos that are gone")
}

func TestMove(t *testing.T) {
	v, generated := &verifier{root: t.TempDir()}, t.TempDir()
	require.NoError(t, write(v.root, "ts/gone.ts", "old"))
	require.NoError(t, write(generated, "ts/gen/new.ts", "new"))
	fresh := stubs{"ts/gen/new.ts": []byte("new")}
	require.NoError(t, v.move("ts/gone.ts", generated, fresh))
	require.NoError(t, v.move("ts/gen/new.ts", generated, fresh))
	require.NoFileExists(t, filepath.Join(v.root, "ts", "gone.ts"))
	text, err := os.ReadFile(filepath.Join(v.root, "ts", "gen", "new.ts"))
	require.NoError(t, err)
	require.Equal(t, "new", string(text))
}
