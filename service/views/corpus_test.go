package views_test

import (
	"bufio"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects"
	"github.com/compactord/compactord/dialects/transcript"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/views"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
)

// recorded returns the beginnings of recorded conversations, by the name of the file; the test is skipped where there are
// none.
func recorded(t *testing.T) map[string][]*compactordv1.Message {
	t.Helper()
	folder := os.Getenv("COMPACTORD_CORPUS")
	if folder == "" {
		folder = filepath.Join("..", "..", "..", "shared", "corpus")
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.jsonl"))
	require.NoError(t, err)
	if len(files) == 0 {
		t.Skipf("no recorded conversations at %s; COMPACTORD_CORPUS names another folder", folder)
	}
	every := 1
	if testing.Short() {
		every = 1 + len(files)/10
	}
	found := make(map[string][]*compactordv1.Message)
	for i := 0; i < len(files); i += every {
		f, err := os.Open(files[i])
		require.NoError(t, err)
		reader, err := transcript.Open(bufio.NewReader(f))
		require.NoError(t, err)
		messages, err := reader.ReadAll()
		require.NoError(t, err)
		require.NoError(t, f.Close())
		found[filepath.Base(files[i])] = messages[:min(len(messages), 60)]
	}
	return found
}

// A recorded conversation with a compaction in its middle has the same views from what is remembered as from the whole.
func TestRememberedListsOfRecordings(t *testing.T) {
	t.Parallel()
	for name, messages := range recorded(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := sessiontest.NewWriter(placing(compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_USER))
			log := written{w}
			trails := &views.Trails{MaxBytes: 1 << 20}
			holders := make(map[compactordv1.Dialect]*holder)
			for i, m := range messages {
				w.Append(m, nil)
				if i == len(messages)/2 && w.Head.GetLeadEnd() < w.Head.GetNextIndex() && len(session.Awaited(w.Head)) == 0 {
					w.Write(&compactordv1.Record{Kind: &compactordv1.Record_Compaction{Compaction: &compactordv1.CompactionEntry{
						Id: "c", FirstKeptIndex: w.Head.GetNextIndex(), Summary: "They looked.",
					}}})
				}
				for j, shape := range dialects.All() {
					c := holders[shape.Kind()]
					if c == nil {
						c = &holder{trails: trails}
						holders[shape.Kind()] = c
					}
					r := views.Request{Row: log.row(), Head: w.Head, MarkBreakpoints: j%2 == 0}
					c.requireSame(t, log, shape, r, 1<<40, 4<<10)
				}
			}
		})
	}
}
