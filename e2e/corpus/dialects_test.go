package corpus_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects"
	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/dialecttest"
	"github.com/compactord/compactord/e2e/corpus"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// The recordings are in the shape of Chat Completions: read and written, they are the same, and by way of a log each of
// the dialects takes them, and takes back what it made of them.
func TestRecordingsInEveryDialect(t *testing.T) {
	t.Parallel()
	chat, found := dialects.For(compactordv1.Dialect_DIALECT_OPENAI_CHAT)
	require.True(t, found)
	for _, file := range corpus.Files(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			list := listIn(t, file)
			parsed, err := chat.Parse(chat.Document(list))
			require.NoError(t, err)
			written, err := chat.Render(parsed.Messages, dialect.RenderOptions{AsWritten: true})
			require.NoError(t, err)
			dialecttest.RequireSame(t, chat, list, &written.List)

			view := dialecttest.ViewOf(parsed.Messages)
			for _, d := range dialects.All() {
				first := dialecttest.RequireRendered(t, d, view)
				again, err := d.Parse(d.Document(&first.List))
				require.NoError(t, err)
				require.Empty(t, again.Findings)
				second, err := d.Render(again.Messages, dialect.RenderOptions{AsWritten: true})
				require.NoError(t, err)
				dialecttest.RequireSame(t, d, &first.List, &second.List)
			}
		})
	}
}

// listIn reads the lines of a recording that are messages.
func listIn(t *testing.T, file string) *dialect.List {
	t.Helper()
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	list := &dialect.List{}
	for line := range bytes.Lines(content) {
		var shape struct{ Role string }
		require.NoError(t, json.Unmarshal(line, &shape))
		if shape.Role != "_compaction" {
			list.Messages = append(list.Messages, bytes.TrimSpace(line))
		}
	}
	return list
}

// Every recording, kept small by every strategy and preset, at 20 lengths: valid in every dialect. In a short run a
// twelfth of the recordings is looked at, another one for each life, and the dialects take turns.
func TestEveryViewOfARecordingIsValid(t *testing.T) {
	t.Parallel()
	files, all := corpus.Files(t), dialects.All()
	for n, life := range corpus.Lives(t) {
		t.Run(life.Name, func(t *testing.T) {
			t.Parallel()
			requests, views := 0, 0
			for i, file := range files {
				if testing.Short() && i%12 != n%12 {
					continue
				}
				life.Live(t, corpus.Read(t, file), 20, func(v corpus.View) {
					if dialecttest.ModeOf(v.Messages) == dialect.Request {
						requests++
					}
					views++
					for i, d := range all {
						if testing.Short() && views%len(all) != i {
							continue
						}
						r, err := d.Render(v.Messages, dialect.RenderOptions{})
						require.NoError(t, err)
						dialecttest.RequireValid(t, d, v.Messages, &r.List)
					}
				})
			}
			require.True(t, testing.Short() || 3*requests > len(files), "hardly a view that the model would answer")
		})
	}
}
