package strategies

import (
	"math"
	"slices"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// The place of a cut and the size of its summary, chosen so that compaction is not due again at once.

// A cut must leave at least this much of the trigger for a summary: a sixteenth of it, but no more than these tokens.
// Otherwise a later place is chosen.
const (
	leastLeftTokens = 1_024
	leastLeftShare  = 16
)

// withinBudget returns the place of the cut if a trigger made compaction due, and the most tokens of the model for the
// summary.
//
// The place is the one that the rules choose, unless compaction would then be due again at once or almost. A rule that
// keeps more than the trigger allows would otherwise make an agent ask again and again for compactions that do almost
// nothing. In that case the place is the first later one that keeps at most half of what the budget leaves, or else the
// last one. The summary then gets at most half of what remains.
func withinBudget(in *Input, view *dividedSize, places []int, ruled int) (at int, maxSummary uint32) {
	if in.Reason != compactordv1.CompactionReason_COMPACTION_REASON_THRESHOLD &&
		in.Reason != compactordv1.CompactionReason_COMPACTION_REASON_OVERFLOW {
		return ruled, math.MaxUint32
	}
	b := in.budget()
	limits := view.limitsAfter(b, ruled)
	// A summary is rarely shorter than the previous one that it contains.
	over := limits.reachedBy(view.rest(ruled).plus(view.summary.atLeast(leastLeft(limits))))
	if len(over) == 0 {
		return ruled, summaryWithin(in, limits.less(view.rest(ruled)))
	}
	at = places[len(places)-1]
	for _, pos := range places {
		if pos >= ruled && takesOut(in.State, pos) && view.leavesHalf(pos, view.limitsAfter(b, pos), over) {
			at = pos
			break
		}
	}
	return at, summaryBudgetOf(in.State, view.summaryAfter(in, b, at))
}

// limitsAfter returns how large the view may be after a cut at a position. If fixed messages fill much of the trigger,
// half of the rest must stay free.
func (d *dividedSize) limitsAfter(b *budget, pos int) size {
	limits := b.afterCut
	fixed := min(d.fixed[pos][byTokens], b.due[byTokens])
	limits[byTokens] = max(limits[byTokens], fixed+(b.due[byTokens]-fixed)/2)
	return limits
}

// leavesHalf says whether a cut at a position keeps at most half of what each of these limits leaves.
func (d *dividedSize) leavesHalf(pos int, limits size, of []int) bool {
	left := limits.less(d.fixed[pos])
	return !slices.ContainsFunc(of, func(by int) bool { return d.kept[pos][by] > left[by]/2 })
}

// summaryAfter returns the most stored tokens for the summary of a cut. That is half of what the trigger leaves, but at
// most what the limits after the cut leave, unless they leave almost nothing.
func (d *dividedSize) summaryAfter(in *Input, b *budget, at int) uint64 {
	left, limits := b.due.less(d.rest(at)), d.limitsAfter(b, at)
	// Four bytes of text count as a token.
	half := min(left[byTokens], left[byBytes]/4) / 2
	within := limits.less(d.rest(at))[byTokens]
	return min(half, max(lessAround(in, within), leastLeft(limits)[byTokens]))
}

// leastLeft returns how much of the limits must remain for a summary.
func leastLeft(limits size) size {
	tokens := min(leastLeftTokens, limits[byTokens]/leastLeftShare)
	return size{byTokens: tokens, byBytes: min(tokens*4, limits[byBytes]/leastLeftShare)}
}

// summaryWithin returns the most tokens of the model for a summary that fits into what is left.
func summaryWithin(in *Input, left size) uint32 {
	return summaryBudgetOf(in.State, lessAround(in, min(left[byTokens], left[byBytes]/4)))
}

// lessAround returns what is left for a summary's budget. A budget for the text alone also leaves space for what views
// show around the text. The other budgets cover that, and stay below the limit: a view that reaches the trigger is due.
func lessAround(in *Input, left uint64) uint64 {
	if BudgetsTextAlone(in.Policy) {
		return left - min(leastLeftTokens, left)/4
	}
	return left - min(left, 1)
}

// summaryBudgetOf returns the budget, in tokens of the model, of a summary with this many stored tokens. No budget is
// below the minimum.
func summaryBudgetOf(s *session.State, stored uint64) uint32 {
	return max(minSummaryTokens, s.Scaled(saturated(stored)))
}
