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

// The recordings are in the shape of Chat Completions. They are the same after reading and writing. Each dialect can
// render the log's view, and read what it rendered.
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

// listIn reads the messages of a recording.
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

// Every scenario runs on every recording at 20 lengths. Each view is valid in every dialect. A short run uses a twelfth
// of the recordings, a different one for each scenario, and one dialect for each view in turn.
func TestEveryViewOfARecordingIsValid(t *testing.T) {
	t.Parallel()
	files, all := corpus.Files(t), dialects.All()
	for n, scenario := range corpus.Scenarios(t) {
		t.Run(scenario.Name, func(t *testing.T) {
			t.Parallel()
			requests, views := 0, 0
			for i, file := range files {
				if testing.Short() && i%12 != n%12 {
					continue
				}
				scenario.Run(t, corpus.Read(t, file), 20, func(v corpus.View) {
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
