package compaction

import (
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/summarizers"
)

// fileTags returns the tags that end the summary: all files read and modified so far. They are empty where the policy
// wants none, and where they would take more than half of the summary's budget. Then views list the files outside the
// summary.
func (w *writing) fileTags() string {
	cut := w.plan.GetCut()
	if cut == nil || !w.policy.GetSummary().GetFileTags() {
		return ""
	}
	covered := w.snapshot.Kept[:w.snapshot.Position(cut.GetFirstKeptIndex())]
	files := strategies.FilesAfter(w.snapshot, strategies.FileTools(w.policy), covered)
	tags := w.writer.Redact(summarizers.FileTags(files))
	most := min(cut.GetMaxSummaryTokens(), w.coveredTokens()/2)
	if session.TextTokens(w.snapshot.ModelCounter(), tags) > most/2 {
		return ""
	}
	return tags
}

// previousSummary returns the summary before this one, without the tags at its end.
func (w *writing) previousSummary() string {
	e := w.snapshot.Entry
	if e.GetFileTags() {
		return w.writer.Redact(summarizers.WithoutFileTags(e.GetSummary()))
	}
	return w.writer.Redact(e.GetSummary())
}

// withTags returns the summary with the tags at its end. It first removes tags that a model has copied from an earlier
// summary.
func withTags(summary, tags string) string {
	if tags == "" {
		return summary
	}
	return summarizers.WithoutFileTags(summary) + tags
}
