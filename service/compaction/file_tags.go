package compaction

import (
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/summarizers"
)

// fileTags are the tags that the summary of the plan's cut ends in: all files read and modified so far. They are empty
// where the policy wants none, and where they would take more than half of the summary's budget: then views tell the
// files in their own words.
func (w *writing) fileTags() string {
	cut := w.plan.GetCut()
	if cut == nil || !w.policy.GetSummary().GetFileTags() {
		return ""
	}
	covered := w.snapshot.Kept[:w.snapshot.Position(cut.GetFirstKeptIndex())]
	files := strategies.TouchedFiles(w.snapshot.Entry.GetFiles(), strategies.FileTools(w.policy), covered)
	tags := w.writer.Redact(summarizers.FileTags(files))
	most := min(cut.GetMaxSummaryTokens(), w.coveredTokens()/2)
	if session.TextTokens(w.snapshot.ModelCounter(), tags) > most/2 {
		return ""
	}
	return tags
}

// textBudget is what the summary's tags leave of its budget.
func (w *writing) textBudget() uint32 {
	budget := w.plan.GetCut().GetMaxSummaryTokens()
	return budget - min(budget, session.TextTokens(w.snapshot.ModelCounter(), w.fileTags()))
}

// previousSummary is the summary that the new one takes in, without the tags that it ends in.
func (w *writing) previousSummary() string {
	e := w.snapshot.Entry
	if e.GetFileTags() {
		return w.writer.Redact(summarizers.WithoutFileTags(e.GetSummary()))
	}
	return w.writer.Redact(e.GetSummary())
}

// withTags adds the tags to a summary, which may hold some that a model has copied.
func withTags(summary, tags string) string {
	if tags == "" {
		return summary
	}
	return summarizers.WithoutFileTags(summary) + tags
}
