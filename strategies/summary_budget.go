package strategies

import (
	"math"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// JoinTokens is what is left for the words between the two texts of a summary: that of the complete turns, and that of the
// turn which the cut splits.
const JoinTokens = 32

// SummaryBudget is the most tokens that a summary may have which no plan sets a budget for: as many as the policy's
// strategy gives one, wherever that nests it.
func SummaryBudget(policy *compactordv1.Policy) uint32 {
	for n := range Nested(policy.GetStrategy()) {
		if Cuts(n.Strategy) {
			return maxSummaryTokens(policy, n.Strategy.GetSummarize())
		}
	}
	return maxSummaryTokens(policy, nil)
}

// maxSummaryTokens is the budget of the whole summary by the policy. A reserve of 0 says when to compact and nothing about
// the summary, so the default one stands in for it.
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

// setBudget gives the summary of a cut the tokens that it may have: as many as the policy says, but never more than would
// gain, nor more than the budget of the view leaves.
func setBudget(in *Input, cut *compactordv1.Cut, at int, view *dividedSize, byPolicy, left uint32) {
	if cut.SplitTurnStart != nil && in.Policy.GetPreset() == piName {
		byPolicy = piSplitBudget(in.State, cut, byPolicy)
	}
	cut.MaxSummaryTokens = min(byPolicy, left, mostThatGains(in, cut, at, view))
}

// mostThatGains is the most tokens of a summary that leaves the view smaller by a good part of what the cut takes out of it:
// three quarters of that. A last summary that goes on as it is takes nothing out.
func mostThatGains(in *Input, cut *compactordv1.Cut, at int, view *dividedSize) uint32 {
	s := in.State
	out := threeQuarters(view.replaced(in, at))
	if withoutHistory(s, cut) && s.Entry.GetSummary() != "" {
		shown := view.withoutSummary().replaced(in, at)
		passed := session.TextTokens(s.Counter, s.Entry.GetSummary()) + JoinTokens
		out = max(out, threeQuarters(shown)+uint64(passed))
	}
	return max(minSummaryTokens, s.Scaled(uint32(min(out, math.MaxUint32))))
}

func threeQuarters(n uint64) uint64 { return n - n/4 }

// withoutHistory says whether a cut splits the first of the turns that are not summarized yet.
func withoutHistory(s *session.State, cut *compactordv1.Cut) bool {
	return cut.SplitTurnStart != nil && cut.GetSplitTurnStart() == s.Kept[0].GetIndex()
}
