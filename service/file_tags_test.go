package service_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

const taggedFiles = "\n\n<read-files>\npkg/module0/file.go\npkg/module1/file.go\n</read-files>"

// With file_tags the summary ends with all files so far, once, however many compactions there were. Views list them
// nowhere else, and the writer of the next summary does not see them.
func TestSummaryEndsInFileTags(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"extractive", "model"} {
		t.Run(name, func(t *testing.T) {
			model := persisting(faithful)
			d := start(t, withSummarizer(model))
			policy := by(name, noFallback, small(300))
			policy.Summary.FileTags = proto.Bool(true)
			d.create("s", policy)
			d.append("s", working(2, 2000)...)
			d.append("s", user("And now something else. "+long(1000)), assistant("Done. "+long(1000)))
			events, err := d.compact(compactRequest("s", nil))
			require.NoError(t, err)
			entry := last(t, events).GetCompleted().GetCompaction()
			require.True(t, entry.GetFileTags())
			require.True(t, strings.HasSuffix(entry.GetSummary(), taggedFiles), entry.GetSummary())
			require.Equal(t, entry.GetSummary(), lastAttemptText(events)+taggedFiles)
			shown := d.view("s")[1].GetMessage().GetParts()[0].GetText().GetText()
			require.NotContains(t, shown, "Files read")
			require.Equal(t, entry.GetTokensAfter(), tokensOf(d.view("s")))

			d.append("s", assistant("I write.", call("w", "write", `{"path":"pkg/new.go"}`)), toolResult("w", "ok"),
				user("Go on. "+long(3000)), assistant("Done. "+long(1000)))
			events, err = d.compact(compactRequest("s", nil))
			require.NoError(t, err)
			entry = last(t, events).GetCompleted().GetCompaction()
			tags := taggedFiles + "\n\n<modified-files>\npkg/new.go\n</modified-files>"
			require.True(t, strings.HasSuffix(entry.GetSummary(), tags), entry.GetSummary())
			require.Equal(t, 1, strings.Count(entry.GetSummary(), "<read-files>"))
			for _, req := range model.seen() {
				require.NotContains(t, req.PreviousSummary, "read-files")
			}
			d.requireChecked()
		})
	}
}

// The summary's budget includes its tags. Where they would take most of it, the view names as many files as it does
// without file_tags.
func TestFileTagsStayWithinTheBudget(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		budget uint32
		tagged bool
	}{"with room": {200, true}, "without": {64, false}} {
		t.Run(name, func(t *testing.T) {
			model := persisting(faithful)
			d := start(t, withSummarizer(model))
			policy := by("model", noFallback, small(300))
			policy.Summary.FileTags = proto.Bool(true)
			policy.GetStrategy().GetSummarize().MaxSummaryTokens = proto.Uint32(c.budget)
			d.create("s", policy)
			for i := range 6 {
				path := "pkg/" + strings.Repeat(string(rune('a'+i)), 20) + ".go"
				d.append("s", user("Read it. "+long(500)), assistant("I read.", call("r", "read", `{"path":"`+path+`"}`)), toolResult("r", long(500)))
			}
			d.append("s", user("And now something else. "+long(1000)), assistant("Done. "+long(1000)))
			events, err := d.compact(compactRequest("s", nil))
			require.NoError(t, err)
			entry := last(t, events).GetCompleted().GetCompaction()
			require.Equal(t, c.tagged, entry.GetFileTags())
			require.Equal(t, c.tagged, strings.Contains(entry.GetSummary(), "<read-files>"))
			require.LessOrEqual(t, model.seen()[0].Count(entry.GetSummary()), c.budget)
			shown := d.view("s")[0].GetMessage().GetParts()[0].GetText().GetText()
			require.Equal(t, c.tagged, strings.Contains(shown, strings.Repeat("a", 20)))
			// The last step names the sixth.
			require.Equal(t, c.tagged, !strings.Contains(shown, "Further files read: 5"))
		})
	}
}

// A revert lists the files of what it puts aside in the text of its message.
func TestRevertHasNoFileTags(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", &compactordv1.Policy{Summary: &compactordv1.SummaryPolicy{FileTags: proto.Bool(true)}})
	d.append("s", working(3, 500)...)
	answer, err := d.sessions.RevertToCheckpoint(t.Context(), summarized(toPoint(2)))
	require.NoError(t, err)
	require.NotNil(t, answer)
	for _, vm := range d.view("s") {
		require.NotContains(t, vm.String(), "read-files")
	}
}
