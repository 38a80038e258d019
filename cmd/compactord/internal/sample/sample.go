// Package sample has the transcripts that tests of the commands work on, and reads what the commands print.
package sample

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// NotAKey stands for a key, and must be nowhere but in requests.
const NotAKey = "key-that-must-not-be-printed"

// TemporaryFolder has temporary folders made in one of the test's own, and demands that none is left at its end.
func TemporaryFolder(t *testing.T) {
	t.Helper()
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	t.Cleanup(func() {
		left, err := os.ReadDir(folder)
		require.NoError(t, err)
		require.Empty(t, left, "temporary folders are left")
	})
}

// StorePath is the path of a store of the test's own, which is not there yet.
func StorePath(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "store.db")
}

// Talk writes a transcript of so many turns, each of four messages: a request, a call, its result of about 500 tokens, and an answer.
func Talk(turns int) string {
	var b strings.Builder
	for i := range turns {
		call := fmt.Sprintf("call_%d", i)
		for _, m := range []map[string]any{
			{"role": "user", "content": fmt.Sprintf("Fix the failing test number %d in pkg/parser.go.", i)},
			{"role": "assistant", "content": nil, "tool_calls": []any{map[string]any{
				"id": call, "type": "function",
				"function": map[string]any{"name": "read_file", "arguments": fmt.Sprintf(`{"path":"pkg/parser_%d.go"}`, i)},
			}}},
			{"role": "tool", "tool_call_id": call, "content": strings.Repeat(fmt.Sprintf("func parse%d() error\n", i), 100)},
			{"role": "assistant", "content": fmt.Sprintf("Test %d passes now: the parser skipped an empty line.", i)},
		} {
			line, err := json.Marshal(m)
			if err != nil {
				panic(err)
			}
			b.Write(line)
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// File writes a file of the test's own.
func File(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// TalkFile is a transcript that is long enough to be compacted.
func TalkFile(t *testing.T) string {
	t.Helper()
	return File(t, "talk.jsonl", Talk(120))
}
