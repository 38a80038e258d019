package strategies

import (
	"math"
	"slices"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Where a cut goes, and how large its summary may be, so that compaction is not due again at once.

// Of what a trigger leaves, this much must be left for a summary, or else the cut is a later one: a sixteenth of it, and
// no more than these tokens. A quarter of the tokens is for the words around the summary.
const (
	leastLeftTokens = 1_024
	leastLeftShare  = 16
)

// withinBudget returns the place of the cut where compaction is due by a trigger, and the most tokens of the model that the
// summary may have.
//
// The place is the one that the rules say, unless the context would be due again at once, or nearly so, with what they keep.
// A rule that keeps more than the trigger allows would else have an agent ask for ever for compactions that do next to
// nothing. Then the place is the first later one that keeps at most half of what the budget leaves, or else the last one;
// and the summary gets at most half of what is left beside that.
func withinBudget(in *Input, view *dividedSize, places []int, ruled int) (at int, maxSummary uint32) {
	if in.Reason != compactordv1.CompactionReason_COMPACTION_REASON_THRESHOLD &&
		in.Reason != compactordv1.CompactionReason_COMPACTION_REASON_OVERFLOW {
		return ruled, math.MaxUint32
	}
	b := in.budget()
	limits := view.limitsAfter(b, ruled)
	// A summary is seldom shorter than the one that it takes in.
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
	stored := view.summaryAfter(b, at)
	return at, max(minSummaryTokens, in.State.Scaled(uint32(min(stored, math.MaxUint32))))
}

// limitsAfter is what the view may hold after a cut at a position. Where what no cut takes out fills much of the trigger,
// half of the rest is left free.
func (d *dividedSize) limitsAfter(b *budget, pos int) size {
	limits := b.afterCut
	fixed := min(d.fixed[pos][byTokens], b.due[byTokens])
	limits[byTokens] = max(limits[byTokens], fixed+(b.due[byTokens]-fixed)/2)
	return limits
}

// leavesHalf says whether what a cut at a position keeps is at most half of what each of these limits leaves.
func (d *dividedSize) leavesHalf(pos int, limits size, of []int) bool {
	left := limits.less(d.fixed[pos])
	return !slices.ContainsFunc(of, func(by int) bool { return d.kept[pos][by] > left[by]/2 })
}

// summaryAfter is the most stored tokens for a summary of what lies before a cut: half of what the trigger leaves, but no
// more than the limits after the cut leave, unless that is next to nothing.
func (d *dividedSize) summaryAfter(b *budget, at int) uint64 {
	left, limits := b.due.less(d.rest(at)), d.limitsAfter(b, at)
	// Text of four bytes makes a token.
	half := min(left[byTokens], left[byBytes]/4) / 2
	within := limits.less(d.rest(at))[byTokens]
	within -= min(leastLeftTokens, within) / 4
	return min(half, max(within, leastLeft(limits)[byTokens]))
}

// leastLeft is what must be left of limits for a summary.
func leastLeft(limits size) size {
	tokens := min(leastLeftTokens, limits[byTokens]/leastLeftShare)
	return size{byTokens: tokens, byBytes: min(tokens*4, limits[byBytes]/leastLeftShare)}
}

// summaryWithin is the most tokens of the model for a summary that fits what is left.
func summaryWithin(in *Input, left size) uint32 {
	stored := min(left[byTokens], left[byBytes]/4)
	stored -= min(leastLeftTokens, stored) / 4
	return max(minSummaryTokens, in.State.Scaled(uint32(min(stored, math.MaxUint32))))
}
