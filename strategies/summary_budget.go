package strategies

import (
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// JoinTokens is the space for the text between the two parts of a summary: that of the complete turns, and that of the
// split turn.
const JoinTokens = 32

// SummaryBudget returns the budget of a summary that no plan sets one for: the budget that the policy's strategy gives,
// even if it is nested.
func SummaryBudget(policy *compactordv1.Policy) uint32 {
	for n := range Nested(policy.GetStrategy()) {
		if Cuts(n.Strategy) {
			return maxSummaryTokens(policy, n.Strategy.GetSummarize())
		}
	}
	return maxSummaryTokens(policy, nil)
}

// maxSummaryTokens returns the policy's budget for the whole summary. A reserve of 0 only says when to compact, so the
// default reserve is used for the summary.
func maxSummaryTokens(policy *compactordv1.Policy, p *compactordv1.SummarizeStrategy) uint32 {
	if p != nil && p.MaxSummaryTokens != nil {
		return p.GetMaxSummaryTokens()
	}
	reserve := policy.GetTrigger().GetReserveTokens()
	if reserve == 0 {
		reserve = reserveTokens(session.ContextLimit(policy))
	}
	return summaryTokens(reserve)
}

// BudgetsTextAlone says whether the policy's budget of a summary is for its text alone, as in the systems that some
// presets reproduce. Otherwise it also covers what views show around the text.
func BudgetsTextAlone(policy *compactordv1.Policy) bool {
	return policy.GetPreset() == piName || policy.GetPreset() == klaudeName
}

// setSummaryBudget sets the budget of a cut's summary: the policy's, but at most what still makes the view smaller, and at
// most what the view's budget leaves.
func setSummaryBudget(in *Input, cut *compactordv1.Cut, at int, view *dividedSize, byPolicy, left uint32) {
	if cut.SplitTurnStart != nil && in.Policy.GetPreset() == piName {
		byPolicy = piSplitBudget(in.State, cut, byPolicy)
	}
	cut.MaxSummaryTokens = min(byPolicy, left, mostThatGains(in, cut, at, view))
}

// mostThatGains returns the most tokens of a summary that still makes the view clearly smaller: three quarters of what
// the cut removes. A previous summary that the new one contains unchanged does not count as removed.
func mostThatGains(in *Input, cut *compactordv1.Cut, at int, view *dividedSize) uint32 {
	s := in.State
	out := threeQuarters(view.replaced(in, at))
	if withoutHistory(s, cut) && s.Entry.GetSummary() != "" {
		shown := view.withoutSummary().replaced(in, at)
		passed := session.TextTokens(s.Counter, s.Entry.GetSummary()) + JoinTokens
		out = max(out, threeQuarters(shown)+uint64(passed))
	}
	return summaryBudgetOf(s, out)
}

func threeQuarters(n uint64) uint64 { return n - n/4 }

// withoutHistory says whether a cut splits the first turn that is not summarized yet.
func withoutHistory(s *session.State, cut *compactordv1.Cut) bool {
	return cut.SplitTurnStart != nil && cut.GetSplitTurnStart() == s.Kept[0].GetIndex()
}
