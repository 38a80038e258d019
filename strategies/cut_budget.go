package strategies

import (
	"math"
	"slices"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// load is what messages take of all that a trigger watches: stored tokens, tool groups and bytes.
type load [3]uint64

const (
	byTokens = iota
	byGroups
	byBytes
)

func (l load) plus(more load) load {
	for by := range l {
		l[by] += more[by]
	}
	return l
}

// less is what remains of a load beside another, 0 where nothing does.
func (l load) less(other load) load {
	for by := range l {
		l[by] -= min(l[by], other[by])
	}
	return l
}

// atLeast is the greater of two loads in each.
func (l load) atLeast(other load) load {
	for by := range l {
		l[by] = max(l[by], other[by])
	}
	return l
}

// reachedBy lists the limits that a load is at or above.
func (l load) reachedBy(of load) []int {
	var reached []int
	for by, limit := range l {
		if of[by] >= limit {
			reached = append(reached, by)
		}
	}
	return reached
}

// withRoom returns the place of the cut where compaction is due by a trigger, and the most tokens of the model that the
// summary may have. The place is the one that the rules say, unless the context would be due again at once with what they
// keep, or nearly so. Then it is a later one, behind which is at most half of what there is room for, or else the last one;
// and half of what is left beside that is the most for the summary. A rule that keeps more than the trigger allows would else have an
// agent ask for ever for compactions that do nothing, or next to nothing.
func withRoom(in *Input, view *weighed, places []int, ruled int) (at int, maxSummary uint32) {
	if in.Reason != compactordv1.CompactionReason_COMPACTION_REASON_THRESHOLD &&
		in.Reason != compactordv1.CompactionReason_COMPACTION_REASON_OVERFLOW {
		return ruled, math.MaxUint32
	}
	g := in.measure()
	limits := view.room(g, ruled)
	// A summary is seldom shorter than the one that it takes in.
	over := limits.reachedBy(view.kept[ruled].plus(view.fixed[ruled]).plus(view.summary.atLeast(leastRoom(limits))))
	if len(over) == 0 {
		return ruled, roomBeside(in, limits.less(view.kept[ruled].plus(view.fixed[ruled])))
	}
	at = places[len(places)-1]
	for _, pos := range places {
		if pos >= ruled && takesOut(in.State, pos) && view.leavesHalf(pos, view.room(g, pos), over) {
			at = pos
			break
		}
	}
	stored := view.summaryRoom(g, at)
	return at, max(minSummaryTokens, in.State.Scaled(uint32(min(stored, math.MaxUint32))))
}

// room is what the view may hold behind a cut: what is free of the trigger is part of what a compaction is for. Where
// much of the trigger is taken by what no cut takes out, half of the rest is left free.
func (w *weighed) room(g *gauge, pos int) load {
	limits := g.roomy
	fixed := min(w.fixed[pos][byTokens], g.due[byTokens])
	limits[byTokens] = max(limits[byTokens], fixed+(g.due[byTokens]-fixed)/2)
	return limits
}

// summaryRoom is the most stored tokens for a summary of what lies before a cut: half of what the trigger leaves, but no
// more than there is room for, unless that is next to nothing.
func (w *weighed) summaryRoom(g *gauge, at int) uint64 {
	taken := w.kept[at].plus(w.fixed[at])
	left, limits := g.due.less(taken), w.room(g, at)
	// Text of four bytes makes a token.
	half := min(left[byTokens], left[byBytes]/4) / 2
	room := limits.less(taken)[byTokens]
	room -= min(leastRoomTokens, room) / 4
	return min(half, max(room, leastRoom(limits)[byTokens]))
}

// Of what a trigger leaves, a summary has at least a sixteenth, or these tokens; a quarter of that is for the words
// around it.
const (
	leastRoomTokens = 1_024
	leastRoomShare  = 16
)

// leastRoom is what must be left for a summary, or else the cut is a later one.
func leastRoom(limits load) load {
	tokens := min(leastRoomTokens, limits[byTokens]/leastRoomShare)
	return load{byTokens: tokens, byBytes: min(tokens*4, limits[byBytes]/leastRoomShare)}
}

// roomBeside is the most tokens of a summary with which the next request is below the trigger.
func roomBeside(in *Input, rest load) uint32 {
	stored := min(rest[byTokens], rest[byBytes]/4)
	stored -= min(leastRoomTokens, stored) / 4
	return max(minSummaryTokens, in.State.Scaled(uint32(min(stored, math.MaxUint32))))
}

// ratioSlack keeps a product that floating point puts just above a whole number from being rounded up to the next.
const ratioSlack = 1e-6

// lessFree is what a trigger allows less the share of it that is to be left free.
func lessFree(trigger uint32, ratio float64) uint32 {
	return trigger - min(trigger, uint32(math.Ceil(ratio*float64(trigger)-ratioSlack)))
}

// weighed is what a view weighs, divided at each position in State.Kept.
type weighed struct {
	// kept is the load from a position on, fixed what stays of that before it: the leading run, and what is pinned.
	kept, fixed []load
	summary     load
}

// leavesHalf says whether what a cut at a position keeps is at most half of what each of these limits leaves.
func (w *weighed) leavesHalf(pos int, limits load, of []int) bool {
	left := limits.less(w.fixed[pos])
	return !slices.ContainsFunc(of, func(by int) bool { return w.kept[pos][by] > left[by]/2 })
}

// weigh draws the view, since edits and repairs make messages other than the log has them.
func weigh(s *session.State) *weighed {
	n := len(s.Kept)
	each := make([]load, n)
	var always, summary load
	for _, vm := range s.View(session.ViewOptions{}).Messages {
		index, ofLog := originOf(vm)
		switch {
		case !ofLog:
			summary = summary.plus(loadOf(vm))
		case index < session.KeptFrom(s.Head):
			always = always.plus(loadOf(vm))
		default:
			// A missing result goes with its call: no cut parts them.
			pos, _ := position(s, index)
			each[pos] = each[pos].plus(loadOf(vm))
		}
	}
	w := &weighed{kept: make([]load, n), fixed: make([]load, n), summary: summary}
	for pos, l := range s.Kept {
		w.fixed[pos] = always
		if session.Pinned(s.Head, l.GetIndex()) {
			always = always.plus(each[pos])
		}
	}
	var behind load
	for pos := n - 1; pos >= 0; pos-- {
		behind = behind.plus(each[pos])
		w.kept[pos] = behind
	}
	return w
}

// originOf is the message of the log that a message of the view shows or repairs; false for one of the summary.
func originOf(vm *compactordv1.ViewMessage) (uint32, bool) {
	switch o := vm.GetOrigin().(type) {
	case *compactordv1.ViewMessage_Index:
		return o.Index, true
	case *compactordv1.ViewMessage_LogRepair:
		return o.LogRepair.GetIndex(), true
	default:
		return 0, false
	}
}

func loadOf(vm *compactordv1.ViewMessage) load {
	l := load{byTokens: uint64(vm.GetTokens()), byBytes: uint64(proto.Size(vm.GetMessage()))}
	for _, p := range vm.GetMessage().GetParts() {
		if p.GetToolCall() != nil {
			l[byGroups] = 1
		}
	}
	return l
}
