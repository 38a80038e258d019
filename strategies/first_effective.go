package strategies

import (
	"context"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// FirstEffective runs the first of its strategies that brings the view under the trigger. It simulates what each would
// leave: one that does a little each time would else keep those after it from ever running.
type FirstEffective struct{}

// Name returns `first_effective`.
func (FirstEffective) Name() string { return "first_effective" }

// Plan returns the plan of the first strategy that does enough, else that of the last one. Where that does nothing, what
// little another can do is better than nothing.
func (FirstEffective) Plan(
	ctx context.Context, in *Input, parameters *compactordv1.Strategy,
) (*compactordv1.CompactionPlan, error) {
	if inPause(in, parameters) {
		return noop(in, compactordv1.SkipReason_SKIP_REASON_BELOW_MINIMUM), nil
	}
	last := noop(in, compactordv1.SkipReason_SKIP_REASON_NOTHING_TO_COMPACT)
	var little *compactordv1.CompactionPlan
	for _, s := range parameters.GetFirstEffective().GetStrategies() {
		step, err := in.nested(ctx, in.State, s)
		if err != nil {
			return nil, err
		}
		last = step
		if !does(step) {
			continue
		}
		left, err := simulate(in.State, step)
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
