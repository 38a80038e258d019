package anthropic_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/anthropic"
	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/dialecttest"
	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// corpus returns the folder of recorded sessions of Claude Code, which is not part of the repository.
func corpus(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("COMPACTORD_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "corpus")
	}
	dir = filepath.Join(dir, "native", "claude-code")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the corpus of recorded sessions is not here; set COMPACTORD_CORPUS to its folder")
	}
	return dir
}

// recorded returns the messages of a session file, as the program sent and received them.
func recorded(t *testing.T, path string) []json.RawMessage {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	var messages []json.RawMessage
	for lines.Scan() {
		var line struct {
			Type        string
			IsSidechain bool
			Message     struct{ Role, Content json.RawMessage }
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &line))
		if line.IsSidechain || line.Type != "user" && line.Type != "assistant" {
			continue
		}
		messages = append(messages, rawjson.Object{"role": line.Message.Role, "content": line.Message.Content}.Encode())
	}
	require.NoError(t, lines.Err())
	require.NotEmpty(t, messages)
	return messages
}

func TestRecordings(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob(filepath.Join(corpus(t), "*.jsonl"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			d := anthropic.New()
			messages := recorded(t, path)
			parsed, err := d.Parse(rawjson.EncodeArray(messages))
			require.NoError(t, err)
			r, err := d.Render(parsed.Messages, dialect.RenderOptions{AsWritten: true})
			require.NoError(t, err)
			require.Len(t, r.Messages, len(messages))
			for i := range messages {
				require.True(t, rawjson.Equal(messages[i], r.Messages[i]), "message %d comes back changed", i)
			}

			view := dialecttest.ViewOf(parsed.Messages)
			closed := dialecttest.ClosedPrefixes(view)
			for at := len(closed) - 1; at >= 0; at -= 1 + len(closed)/20 {
				n := closed[at]
				r, err := d.Render(view[:n], dialect.RenderOptions{})
				require.NoError(t, err)
				if found := d.Validate(&r.List, dialecttest.ModeOf(view[:n])); len(found) > 0 {
					require.Fail(t, "not valid", "the first %d messages: %s", n, found[0])
				}
				require.False(t, r.DisableThinking, "all thinking is the provider's own")
			}
		})
	}
}
