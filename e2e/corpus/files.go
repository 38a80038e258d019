package corpus

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/transcript"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Dir returns the folder of the recordings: COMPACTORD_CORPUS, by default ../shared/corpus of the repository. It skips the
// test where there is none.
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

// Files returns the recordings in the neutral form, the malformed ones included.
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

// Read returns the messages of a recording.
func Read(t testing.TB, file string) []*compactordv1.Message {
	t.Helper()
	f, err := os.Open(file)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	r, err := transcript.Open(f)
	require.NoError(t, err)
	messages, err := r.ReadAll()
	require.NoError(t, err)
	return messages
}
