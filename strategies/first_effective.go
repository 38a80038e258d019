package strategies

import (
	"context"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// FirstEffective runs the first of its strategies that brings the view under the trigger. It simulates the result of
// each. Otherwise a strategy that does a little each time would keep the later ones from ever running.
type FirstEffective struct{}

// Name returns `first_effective`.
func (FirstEffective) Name() string { return "first_effective" }

// Plan returns the plan of the first strategy that does enough, otherwise that of the last one. If the last one does
// nothing, it returns the plan of the last strategy that does anything.
func (FirstEffective) Plan(
	ctx context.Context, in *Input, parameters *compactordv1.Strategy,
) (*compactordv1.CompactionPlan, error) {
	if inPause(in, parameters) {
		return noop(in, compactordv1.SkipReason_SKIP_REASON_BELOW_MINIMUM), nil
	}
	last := noop(in, compactordv1.SkipReason_SKIP_REASON_NOTHING_TO_COMPACT)
	var little *compactordv1.CompactionPlan
	list := parameters.GetFirstEffective().GetStrategies()
	for i, s := range list {
		step, err := in.nested(ctx, in.State, s)
		if err != nil {
			return nil, err
		}
		last = step
		if !does(step) {
			continue
		}
		if i == len(list)-1 {
			return step, nil
		}
		left, err := simulate(ctx, in.State, step)
		if err != nil {
			return nil, err
		}
		if !in.budget().dueAt(viewSize(left)) {
			return step, nil
		}
		little = step
	}
	if !does(last) && little != nil {
		return little, nil
	}
	return last, nil
}
