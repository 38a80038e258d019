package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// talk writes a transcript of so many turns, each of four messages: a request, a call, its result of about 500 tokens, and an answer.
func talk(turns int) string {
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

// file writes a file of the test's own.
func file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// talkFile is a transcript that is long enough to be compacted.
func talkFile(t *testing.T) string {
	t.Helper()
	return file(t, "talk.jsonl", talk(120))
}

// One file of a folder that cannot be read was told of as if the folder were missing.
func TestTheFileOfAFolderThatCannotBeReadIsNamed(t *testing.T) {
	temporaryFolder(t)
	folder := t.TempDir()
	bad := filepath.Join(folder, "event-00000-a.json")
	require.NoError(t, os.Mkdir(bad, 0o700))
	ran(t, "view", folder).ends(t, exitFailed).says(t, "cannot read "+bad+": ")
}

func TestFilesThatMakeNoSense(t *testing.T) {
	temporaryFolder(t)
	for name, test := range map[string]struct{ content, says string }{
		"unknown role":     {`{"role":"robot","content":"hello"}`, "bad.jsonl, line 1: role: "},
		"no transcript":    {"hello", "the format is not recognized"},
		"empty":            {"", "bad.jsonl: the input is empty"},
		"another document": {`{"a":1}`, "the format is not recognized"},
		"only half a line": {`{"role":"user","content":"x`, "bad.jsonl, line 1: is not valid JSON: it breaks off at its end"},
	} {
		t.Run(name, func(t *testing.T) {
			path := file(t, "bad.jsonl", test.content)
			for _, command := range []string{"compact", "view", "prune"} {
				r := ran(t, command, path).ends(t, exitFailed).says(t, test.says)
				require.Empty(t, r.out)
			}
			ran(t, "import", path, "--session", "s", "--store", filepath.Join(t.TempDir(), "s.db")).
				ends(t, exitFailed).says(t, test.says)
		})
	}
	t.Run("missing", func(t *testing.T) {
		ran(t, "compact", "there-is-none.jsonl").ends(t, exitFailed).
			says(t, "compactord: cannot read there-is-none.jsonl: there is no such file\n")
	})
	t.Run("folder", func(t *testing.T) {
		ran(t, "compact", t.TempDir()).ends(t, exitFailed).says(t, "it is a folder")
	})
	t.Run("no messages", func(t *testing.T) {
		path := file(t, "empty.jsonl", `{"type":"session","id":"x","version":3,"timestamp":"2026-01-01T00:00:00Z","cwd":"/"}`)
		ran(t, "compact", path).ends(t, exitNothing).says(t, "nothing to do: "+path+" holds no messages")
	})
}

// One message of an unknown role refused the whole file. It is left out and told; --strict refuses it.
func TestOneRecordThatCannotBeReadIsTold(t *testing.T) {
	temporaryFolder(t)
	path := file(t, "bad.jsonl", talk(3)+"\n"+`{"role":"robot","content":"hello"}`)
	ran(t, "view", path).ends(t, exitDone).says(t, "1 record that cannot be read left out (line 14); the first: role: ")
	ran(t, "view", path, "--strict").ends(t, exitFailed).says(t, "bad.jsonl, line 14: role: ")
}

func TestBrokenLinesAreTold(t *testing.T) {
	temporaryFolder(t)
	path := file(t, "bad.jsonl", talk(3)+`{"role":"user","content":`+"\n{\"role\":\"user\",\"content\":\"\xff\"}")
	ran(t, "compact", path).says(t, "2 broken lines left out (lines 13, 14)")
}

func TestPlaceOfAMessageInItsFile(t *testing.T) {
	require.Equal(t, "position 7 of its source", (*readFile)(nil).place(7))
	for format, want := range map[string]string{"jsonl": "line 8", "pi": "entry 7", "json": "element 7"} {
		content := map[string]string{
			"jsonl": talk(1),
			"json":  "[" + strings.Join(strings.Split(strings.TrimSpace(talk(1)), "\n"), ",") + "]",
			"pi":    `{"type":"session","id":"x","timestamp":"2026-01-01T00:00:00Z","cwd":"/"}`,
		}[format]
		read, err := parseTranscript("x", standardInput, reading{}, newWatched(t.Context(), strings.NewReader(content), nil))
		require.NoError(t, err)
		require.Equal(t, want, read.place(7))
	}
}
