package openairesponses_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/dialecttest"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	"github.com/compactord/compactord/dialects/openairesponses"
)

// rollouts returns the items of each recorded session of Codex. The recordings are not part of the repository.
func rollouts(t *testing.T) map[string][]byte {
	t.Helper()
	dir := os.Getenv("COMPACTORD_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "corpus")
		if _, err := os.Stat(dir); err != nil {
			t.Skip("the corpus of recorded transcripts is not here; set COMPACTORD_CORPUS to its folder")
		}
	}
	paths, err := filepath.Glob(filepath.Join(dir, "native", "codex", "rollout-*.jsonl"))
	require.NoError(t, err)
	require.NotEmpty(t, paths, "no rollout in %s", dir)
	lists := make(map[string][]byte)
	for _, path := range paths {
		lines, err := os.ReadFile(path)
		require.NoError(t, err)
		var list []json.RawMessage
		for line := range bytes.Lines(lines) {
			o, err := rawjson.ParseObject(line)
			require.NoError(t, err)
			if o.IsText("type", "response_item") {
				list = append(list, o["payload"])
			}
		}
		require.NotEmpty(t, list)
		lists[filepath.Base(path)] = rawjson.EncodeArray(list)
	}
	return lists
}

func TestRecordings(t *testing.T) {
	t.Parallel()
	for name, list := range rollouts(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			written(t, list)
			parsed := parse(t, string(list))
			require.Empty(t, parsed.Findings)
			dialecttest.RequireRendered(t, openairesponses.New(), dialecttest.ViewOf(parsed.Messages))
		})
	}
}
