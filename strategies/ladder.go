package strategies

import (
	"context"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// Ladder runs its strategies in order, cheapest first, until the view is at or under the target. Each plans on the
// state that those before it would leave. All edits are committed together.
type Ladder struct{}

// Name returns `ladder`.
func (Ladder) Name() string { return "ladder" }

// Plan returns the combined plan of the rungs that were needed. If they do nothing, it has the skip reason of the last
// one.
func (Ladder) Plan(
	ctx context.Context, in *Input, parameters *compactordv1.Strategy,
) (*compactordv1.CompactionPlan, error) {
	if inPause(in, parameters) {
		return noop(in, compactordv1.SkipReason_SKIP_REASON_BELOW_MINIMUM), nil
	}
	all := noop(in, compactordv1.SkipReason_SKIP_REASON_NOTHING_TO_COMPACT)
	state := in.State
	rungs := parameters.GetLadder().GetRungs()
	for i, rung := range rungs {
		if goesToTarget(in) && in.budget().done(viewSize(state)) {
			break
		}
		if !reached(in, state, rung) {
			continue
		}
		step, err := in.nested(ctx, state, rung.GetStrategy())
		if err != nil {
			return nil, err
		}
		step.Edits = fitting(all.GetEdits(), step.GetEdits())
		if !does(step) {
			if !does(all) {
				all.SkipReason = step.GetSkipReason()
			}
			continue
		}
		all = merged(in.State, all, step)
		if i == len(rungs)-1 {
			break
		}
		if state, err = simulate(ctx, state, step); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// fitting returns as many of these edits, the oldest first, as fit into a plan beside others.
func fitting(others, edits []*compactordv1.Edit) []*compactordv1.Edit {
	left := maxPlanBytes
	for _, e := range others {
		left -= len(e.GetReplacement()) + editBytes
	}
	for i, e := range edits {
		// The last edit may exceed the limit, as in each strategy alone.
		if left < 0 {
			return edits[:i]
		}
		left -= len(e.GetReplacement()) + editBytes
	}
	return edits
}

// goesToTarget says whether a ladder stops at its target. A manual compaction does all that it can.
func goesToTarget(in *Input) bool {
	return in.Reason != compactordv1.CompactionReason_COMPACTION_REASON_MANUAL
}

// reached says whether the context is full enough for a rung. A manual compaction runs all rungs, and so does an
// overflow if the window is unknown.
func reached(in *Input, s *session.State, rung *compactordv1.LadderStrategy_Rung) bool {
	b := in.budget()
	switch {
	case rung.AtRatio == nil || in.Reason == compactordv1.CompactionReason_COMPACTION_REASON_MANUAL:
		return true
	case b.window == 0:
		return in.Reason == compactordv1.CompactionReason_COMPACTION_REASON_OVERFLOW
	default:
		return float64(b.context(s)) >= rung.GetAtRatio()*float64(b.window)
	}
}
