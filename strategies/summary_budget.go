package strategies

import (
	"context"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// JoinTokens is the space for the text between the two parts of a summary: that of the complete turns, and that of the
// split turn.
const JoinTokens = 32

// SummaryBudget returns the budget of a summary that no plan sets one for: the budget that the policy's strategy gives,
// even if it is nested.
func SummaryBudget(policy *compactordv1.Policy) uint32 {
	for nested := range All(policy.GetStrategy()) {
		if Cuts(nested) {
			return maxSummaryTokens(policy, nested.GetSummarize())
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

// setSummaryBudget sets the budget of a cut's summary: the policy's, but at most what still makes the view smaller, and at
// most what the view's budget leaves.
func setSummaryBudget(
	ctx context.Context, in *Input, cut *compactordv1.Cut, at int, view *dividedSize, byPolicy, left uint32,
) error {
	if cut.SplitTurnStart != nil && in.Policy.GetPreset() == piName {
		byPolicy = piSplitBudget(in.State, cut, byPolicy)
	}
	gaining, err := mostThatGains(ctx, in, cut, at, view)
	cut.MaxSummaryTokens = min(byPolicy, left, gaining)
	return err
}

// mostThatGains returns the most tokens of a summary that still makes the view clearly smaller: three quarters of what
// the cut removes, and so many that views show less as the summary than the cut removes. A previous summary that the new
// one contains unchanged does not count as removed.
func mostThatGains(
	ctx context.Context, in *Input, cut *compactordv1.Cut, at int, view *dividedSize,
) (uint32, error) {
	s := in.State
	out := threeQuarters(view.replaced(in, at))
	if withoutHistory(s, cut) && s.Entry.GetSummary() != "" {
		shown := view.withoutSummary().replaced(in, at)
		passed := session.TextTokens(s.Counter, s.Entry.GetSummary()) + JoinTokens
		out = max(out, threeQuarters(shown)+uint64(passed))
	}
	entry, err := entryWithout(ctx, s, in.Policy, at)
	if err != nil {
		return 0, err
	}
	message := aroundText(s, in.Policy, entry)
	replaced := view.replaced(in, at)
	left := message.within(s.Scaled(saturated(replaced - min(replaced, 1))))
	covered := max(1, CoveredTokens(s, at, DueByBytesAlone(in.Policy, session.Measure(s.Head, in.Policy))))
	return max(minSummaryTokens, min(summaryBudgetOf(s, out), left, covered-1)), nil
}

// CoveredTokens returns the size of what the summary of a cut at a position replaces: the summary must be smaller. It is
// in tokens of the model. byBytes says that only the view's size in bytes made the compaction due.
func CoveredTokens(s *session.State, at int, byBytes bool) uint32 {
	covered := inputTokens(s, at)
	if !byBytes {
		return covered
	}
	// Content that is large in bytes can have few tokens. Count four bytes as a token, as in text.
	bytes := len(s.Entry.GetSummary())
	for _, l := range s.Kept[:at] {
		bytes += proto.Size(l.GetMessage())
	}
	return max(covered, uint32(bytes/4))
}

func threeQuarters(n uint64) uint64 { return n - n/4 }

// withoutHistory says whether a cut splits the first turn that is not summarized yet.
func withoutHistory(s *session.State, cut *compactordv1.Cut) bool {
	return cut.SplitTurnStart != nil && cut.GetSplitTurnStart() == s.Kept[0].GetIndex()
}
