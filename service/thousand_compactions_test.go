package service_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage/memory"
	"github.com/compactord/compactord/summarizers"
)

// After a thousand compactions in a row the summary is within its budget, still has the user's first demands, and the
// file lists are right.
func TestThousandCompactions(t *testing.T) {
	t.Parallel()
	const budget, times = 600, 1000
	for _, name := range []string{"extractive", "model"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			most := times
			if testing.Short() {
				most = 100
			}
			d := start(t, withStore(memory.New()), withSummarizer(persisting(updating)))
			policy := by(name, noFallback, small(40))
			policy.GetStrategy().GetSummarize().MaxSummaryTokens = proto.Uint32(budget)
			policy.Summary.FileTags = proto.Bool(true)
			d.create("s", policy)
			d.append("s", user("Please port the parser. Always keep the public API as it is, and never touch vendor/."), assistant("I will."))
			for n := range most {
				path := fmt.Sprintf("pkg/m%d.go", n%5)
				tool := "read"
				if n%5 == 4 {
					tool = "write"
				}
				d.append("s", user(fmt.Sprintf("Now look at step %d, please. %s", n, strings.Repeat("It matters. ", 60))),
					assistant("I look.", call("c", tool, `{"path":"`+path+`"}`)), toolResult("c", strings.Repeat("fine ", 200)),
					assistant(fmt.Sprintf("Step %d is done.", n)))
				events, err := d.compact(compactRequest("s", nil))
				require.NoError(t, err)
				entry := last(t, events).GetCompleted().GetCompaction()
				require.NotNil(t, entry, "%d: %v", n, last(t, events))
				require.LessOrEqual(t, (len(entry.GetSummary())+3)/4, budget, n)
				require.Contains(t, entry.GetSummary(), "Always keep the public API as it is", "%d", n)
				requireFiles(t, entry.GetFiles(), n)
			}
			entry := lastEntry(d)
			require.Contains(t, entry.GetSummary(), "<read-files>\npkg/m0.go\npkg/m1.go\npkg/m2.go\npkg/m3.go\n</read-files>")
			require.Equal(t, 1, strings.Count(entry.GetSummary(), "<modified-files>"))
		})
	}
}

// requireFiles asserts the files of the first n+1 steps. The last one may not be covered yet.
func requireFiles(t *testing.T, files *compactordv1.FileLists, n int) {
	t.Helper()
	if n < 6 {
		return
	}
	require.Equal(t, []string{"pkg/m0.go", "pkg/m1.go", "pkg/m2.go", "pkg/m3.go"}, files.GetRead())
	require.Equal(t, []string{"pkg/m4.go"}, files.GetModified())
}

func lastEntry(d *daemon) *compactordv1.CompactionEntry {
	var entry *compactordv1.CompactionEntry
	for _, r := range d.records("s") {
		if r.GetCompaction() != nil {
			entry = r.GetCompaction()
		}
	}
	return entry
}

// updating is a model that updates a summary: it keeps the user's demands, and of the work only the newest steps.
func updating(_ context.Context, req *summarizers.Request, p summarizers.Progress) (*summarizers.Summary, error) {
	var demanded, done []string
	for line := range strings.Lines(req.PreviousSummary) {
		switch line = strings.TrimSpace(line); {
		case strings.HasPrefix(line, "- Always"):
			demanded = append(demanded, line)
		case strings.HasPrefix(line, "- Step"):
			done = append(done, line)
		}
	}
	for _, l := range req.Messages {
		for _, part := range l.GetMessage().GetParts() {
			text := part.GetText().GetText()
			if at := strings.Index(text, "Always"); at >= 0 && len(demanded) == 0 {
				demanded = append(demanded, "- "+text[at:])
			}
			if strings.HasPrefix(text, "Step") {
				done = append(done, "- "+text)
			}
		}
	}
	done = done[max(0, len(done)-10):]
	var b strings.Builder
	for _, h := range summarizers.Headings(req.Kind, req.Sections) {
		below := []string{summarizers.NothingBelow}
		switch h.Title {
		case "Constraints & Preferences", "Original Request":
			below = append(demanded, below[len(demanded):]...)
		case "Next Steps", "Context for Suffix":
			below = []string{"- The next step."}
		case "Done", "Early Progress":
			below = append(done, below[min(1, len(done)):]...)
		}
		fmt.Fprintf(&b, "%s %s\n%s\n", strings.Repeat("#", h.Level), h.Title, strings.Join(below, "\n"))
	}
	p.Text(b.String())
	return &summarizers.Summary{Text: b.String(), Calls: 1}, nil
}
