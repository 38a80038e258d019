package service

import (
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/summarizers"
)

// fileTags are the tags that the summary of the plan's cut ends in: all files read and modified so far. They are empty
// where the policy wants none, and where they would take more than half of the summary's budget: then views tell the
// files in their own words.
func (c *compaction) fileTags() string {
	cut := c.plan.GetCut()
	if cut == nil || !c.policy.GetSummary().GetFileTags() {
		return ""
	}
	covered := c.snapshot.Kept[:c.snapshot.Position(cut.GetFirstKeptIndex())]
	files := session.TouchedFiles(c.snapshot.Entry.GetFiles(), strategies.FileTools(c.policy), covered)
	tags := c.writer.Redact(summarizers.FileTags(files))
	most := min(cut.GetMaxSummaryTokens(), c.coveredTokens()/2)
	if session.TextTokens(c.snapshot.ModelCounter(), tags) > most/2 {
		return ""
	}
	return tags
}

// textBudget is what the summary's tags leave of its budget.
func (c *compaction) textBudget() uint32 {
	budget := c.plan.GetCut().GetMaxSummaryTokens()
	return budget - min(budget, session.TextTokens(c.snapshot.ModelCounter(), c.fileTags()))
}

// previousSummary is the summary that the new one takes in, without the tags that it ends in.
func (c *compaction) previousSummary() string {
	e := c.snapshot.Entry
	if e.GetFileTags() {
		return c.writer.Redact(summarizers.WithoutFileTags(e.GetSummary()))
	}
	return c.writer.Redact(e.GetSummary())
}

// withTags adds the tags to a summary, which may hold some that a model has copied.
func withTags(summary, tags string) string {
	if tags == "" {
		return summary
	}
	return summarizers.WithoutFileTags(summary) + tags
}
