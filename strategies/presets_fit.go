package strategies

import (
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// fitBudget lowers the tokens that a preset keeps and those of its summary, so that both fit into what free_ratio
// leaves of the trigger. The systems have figures for large windows; in a small one the next compaction would be due at
// once. It first lowers what is kept, but not below a third of that budget, and then the summary.
func fitBudget(p *compactordv1.Policy) {
	trigger, due := session.TriggerTokens(p)
	if !due {
		return
	}
	budget := lessFree(trigger, p.GetTrigger().GetFreeRatio())
	for nested := range All(p.GetStrategy()) {
		if s := nested.GetSummarize(); s != nil {
			fitSummarize(p.GetPreset(), s, budget)
		}
	}
}

func fitSummarize(preset string, s *compactordv1.SummarizeStrategy, budget uint32) {
	kept := budget / 3
	if s.RecentTokens != nil {
		whole := wholeSummary(preset, s.GetMaxSummaryTokens())
		kept = min(s.GetRecentTokens(), max(kept, budget-min(budget, whole)))
		s.RecentTokens = proto.Uint32(kept)
	}
	if s.ManualRecentTokens != nil {
		s.ManualRecentTokens = proto.Uint32(min(s.GetManualRecentTokens(), kept))
	}
	if wholeSummary(preset, s.GetMaxSummaryTokens()) > budget-kept {
		s.MaxSummaryTokens = proto.Uint32(max(minSummaryTokens, historyOf(preset, budget-kept)))
	}
}

// wholeSummary returns the largest size of a whole summary. In Pi the first part of a split turn has an additional
// budget.
func wholeSummary(preset string, history uint32) uint32 {
	if preset != piName {
		return history
	}
	return history + prefixTokens(history) + JoinTokens
}

// historyOf returns the budget of the complete turns for a whole summary of this size.
func historyOf(preset string, whole uint32) uint32 {
	if preset != piName {
		return whole
	}
	return (whole - min(whole, JoinTokens)) / 13 * 8
}
