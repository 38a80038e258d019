package corpus

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/transcript"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Dir returns the folder of the recordings: COMPACTORD_CORPUS, by default ../shared/corpus of the repository. It skips
// the test if the folder does not exist.
func Dir(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv("COMPACTORD_CORPUS"); dir != "" {
		require.DirExists(t, dir, "COMPACTORD_CORPUS")
		return dir
	}
	root, err := filepath.Abs(".")
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(root, "tools", "go.mod")); err == nil {
			break
		}
		require.NotEqual(t, root, filepath.Dir(root), "not in the repository")
		root = filepath.Dir(root)
	}
	dir := filepath.Join(root, "..", "shared", "corpus")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the recorded conversations are not here; set COMPACTORD_CORPUS to their folder")
	}
	return dir
}

// Files returns the recordings in the neutral form, also the malformed ones.
func Files(t testing.TB) []string {
	t.Helper()
	dir := Dir(t)
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	require.NoError(t, err)
	malformed, err := filepath.Glob(filepath.Join(dir, "malformed", "*.jsonl"))
	require.NoError(t, err)
	files = append(files, malformed...)
	require.NotEmpty(t, files)
	return files
}

// Read returns the messages of a recording. All tests of a process share them, so they must not be changed.
func Read(t testing.TB, file string) []*compactordv1.Message {
	t.Helper()
	once, _ := recordings.LoadOrStore(file, sync.OnceValues(func() ([]*compactordv1.Message, error) {
		return read(file)
	}))
	readOnce, ok := once.(func() ([]*compactordv1.Message, error))
	require.True(t, ok)
	messages, err := readOnce()
	require.NoError(t, err)
	return messages
}

// recordings holds a function for each file that reads the file once.
var recordings sync.Map

func read(file string) (messages []*compactordv1.Message, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	r, err := transcript.Open(f)
	if err != nil {
		return nil, err
	}
	return r.ReadAll()
}
