// Package sample holds transcripts for tests of the commands, and functions that parse the commands' output.
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

// NotAKey is used as an API key. It must appear nowhere but in requests.
const NotAKey = "key-that-must-not-be-printed"

// TemporaryFolder sets the folder of temporary files to one of the test, and requires that it is empty at the end.
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

// Talk returns a transcript of turns with four messages each: a request, a tool call, its result of about 500 tokens,
// and an answer.
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

// File writes a file into a folder of the test.
func File(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// TalkFile writes a transcript that is long enough to be compacted.
func TalkFile(t *testing.T) string {
	t.Helper()
	return File(t, "talk.jsonl", Talk(120))
}
