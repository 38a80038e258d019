package strategies

import (
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

const piName = "pi"

var piPreset = preset{
	name:       piName,
	does:       "Compacts when less than the reserve is left, and keeps the newest 20,000 tokens. Prunes nothing by itself.",
	reproduces: "Pi",
	from:       "pi-mono, packages/coding-agent, version 0.58.3",
	deviations: []string{
		"Compaction is due at the trigger, not one token above it.",
		"With an unknown window it is never due, instead of always; in a window that is not larger than four reserves the " +
			"reserve is a quarter of it.",
		"In a window of less than 79,010 less than 20,000 tokens are kept: 8,468 in one of 50,000, where they would be more than " +
			"half of what it compacts at.",
		"What the last compaction kept is summarized by the next one, instead of being lost.",
		"If no cut is valid after the message that reaches the budget, the cut is at the nearest place before it. Pi keeps " +
			"everything.",
		"The summarizer reads only 2,000 characters of a call's arguments, and not all of them.",
		"An empty or cut off summary is refused, and the previous one is never dropped.",
	},
	change: func(p *compactordv1.Policy, l Limits) {
		p.Strategy = cutBy(l, &compactordv1.SummarizeStrategy{RecentTokens: proto.Uint32(20_000)})
		p.Summary.Sections = sectionsWithoutFiles()
		p.Summary.FileTags = proto.Bool(true)
		p.FileTools = piFileTools()
	},
	sources: []source{
		{"summarize.recent_tokens", "Pi, `compaction.keepRecentTokens`; in a window of less than 79,010 what its summaries leave " +
			"of two thirds of the trigger"},
		{"summarize.max_summary_tokens", "Pi: floor(0.8 x reserve), 13,107 of the whole reserve. Where a turn is split, its " +
			"first part has floor(0.5 x reserve), 8,192, on top. For the text alone, as there"},
	},
}

// piSplitBudget returns the budget of the whole summary if a turn is split. Pi gives 0.8 of the reserve to the complete
// turns and another 0.5 to the first part of the split turn, so that part gets five eighths of the budget of the
// complete turns.
func piSplitBudget(s *session.State, cut *compactordv1.Cut, history uint32) uint32 {
	prefix := uint64(prefixTokens(history))
	if withoutHistory(s, cut) && s.Entry.GetSummary() == "" {
		history = 0
	}
	return saturated(max(minSummaryTokens, uint64(history)+prefix+JoinTokens))
}

// prefixTokens returns five eighths of the budget of the complete turns.
func prefixTokens(history uint32) uint32 { return uint32((uint64(history)*5 + 7) / 8) }
