package openaichat_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/dialecttest"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	"github.com/compactord/compactord/dialects/openaichat"
)

// corpusFiles returns recorded transcripts, which are not part of the repository.
func corpusFiles(t *testing.T, pattern string) []string {
	t.Helper()
	dir := os.Getenv("COMPACTORD_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "corpus")
		if _, err := os.Stat(dir); err != nil {
			t.Skip("the corpus of recorded transcripts is not here; set COMPACTORD_CORPUS to its folder")
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, pattern))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return files
}

// readList reads the lines of a file that are messages as one list.
func readList(t *testing.T, file string) []byte {
	t.Helper()
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	var list []json.RawMessage
	lines := bufio.NewScanner(bytes.NewReader(raw))
	lines.Buffer(nil, len(raw)+1)
	for lines.Scan() {
		if o, err := rawjson.ParseObject(lines.Bytes()); err == nil && !o.IsText("role", "_compaction") {
			list = append(list, bytes.Clone(lines.Bytes()))
		}
	}
	require.NoError(t, lines.Err())
	require.NotEmpty(t, list)
	return rawjson.EncodeArray(list)
}

func TestRecordings(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"*.jsonl", filepath.Join("malformed", "*.jsonl")} {
		for _, file := range corpusFiles(t, pattern) {
			t.Run(filepath.Base(file), func(t *testing.T) {
				t.Parallel()
				parsed := requireKept(t, readList(t, file))
				dialecttest.RequireRendered(t, openaichat.New(), dialecttest.ViewOf(parsed.Messages))
			})
		}
	}
}
