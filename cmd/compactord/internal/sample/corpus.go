package sample

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// CorpusVariable names the folder with recorded conversations, which is not in the repository.
const CorpusVariable = "COMPACTORD_CORPUS"

// Corpus returns the folder with recorded conversations. It skips the test where the folder does not exist.
func Corpus(t *testing.T) string {
	t.Helper()
	folder := os.Getenv(CorpusVariable)
	if folder == "" {
		folder = filepath.Join("..", "..", "..", "..", "..", "shared", "corpus")
	}
	if _, err := os.Stat(folder); err != nil {
		t.Skipf("no recorded conversations at %s; %s names their folder", folder, CorpusVariable)
	}
	return folder
}

// TranscriptsOf returns the files of a corpus that the program can read.
func TranscriptsOf(t *testing.T, folder string) []string {
	t.Helper()
	var paths []string
	for _, pattern := range []string{"*.jsonl", "malformed/*.jsonl", "native/pi/*.jsonl"} {
		found, err := filepath.Glob(filepath.Join(folder, pattern))
		require.NoError(t, err)
		paths = append(paths, found...)
	}
	require.NotEmpty(t, paths)
	return paths
}
