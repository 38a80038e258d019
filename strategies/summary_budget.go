package strategies

import (
	"math"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// JoinTokens is what is left for the words between the two texts of a summary, that of the complete turns and that of the
// turn which the cut splits.
const JoinTokens = 32

// setBudget gives the summary of a cut the tokens that it may have: as many as the policy says, but never more than would
// gain, nor more than room.
func setBudget(in *Input, cut *compactordv1.Cut, at int, view *weighed, most, room uint32) {
	if cut.SplitTurnStart != nil && in.Policy.GetPreset() == piName {
		most = piSplitBudget(in.State, cut, most)
	}
	cut.MaxSummaryTokens = min(most, room, mostThatGains(in, cut, at, view))
}

// mostThatGains is the most tokens of a summary that leaves the view smaller by a good part of what it takes out of it:
// three quarters of that. A last summary that goes on as it is takes nothing out.
func mostThatGains(in *Input, cut *compactordv1.Cut, at int, view *weighed) uint32 {
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

// replaced is what a cut takes out of the view, in stored tokens: what is pinned stays. Where bytes alone made compaction
// due, four of them are a token, as of text.
func (w *weighed) replaced(in *Input, at int) uint64 {
	out := w.kept[0].plus(w.fixed[0]).less(w.kept[at].plus(w.fixed[at])).plus(w.summary)
	if DueByBytesAlone(in.Policy, session.Measure(in.State.Head, in.Policy)) {
		return max(out[byTokens], out[byBytes]/4)
	}
	return out[byTokens]
}

// withoutSummary is the view as it would weigh without its summary.
func (w *weighed) withoutSummary() *weighed { return &weighed{kept: w.kept, fixed: w.fixed} }

// withoutHistory says whether a cut splits the first of the turns that are not summarized yet.
func withoutHistory(s *session.State, cut *compactordv1.Cut) bool {
	return cut.SplitTurnStart != nil && cut.GetSplitTurnStart() == s.Kept[0].GetIndex()
}
