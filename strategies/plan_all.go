package strategies

import (
	"context"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// PlanAll runs several strategies, each on the state that those before it would leave, and returns their combined plan.
// Edits that do not fit into one plan are left out.
func (r *Registry) PlanAll(
	ctx context.Context, in *Input, list []*compactordv1.Strategy,
) (*compactordv1.CompactionPlan, error) {
	planned := *in
	planned.registry = r
	return guarded(ctx, inOrder(list), &planned, nil)
}

// inOrder is a strategy that runs all of these strategies.
type inOrder []*compactordv1.Strategy

// Name returns a name for errors: this strategy cannot be selected.
func (inOrder) Name() string { return "in order" }

// Plan returns the combined plan. If it does nothing, it has the skip reason of the last strategy.
func (all inOrder) Plan(
	ctx context.Context, in *Input, _ *compactordv1.Strategy,
) (*compactordv1.CompactionPlan, error) {
	plan := noop(in, compactordv1.SkipReason_SKIP_REASON_NOTHING_TO_COMPACT)
	state := in.State
	for i, parameters := range all {
		step, err := in.nested(ctx, state, parameters)
		if err != nil {
			return nil, err
		}
		if !does(step) {
			if !does(plan) {
				plan.SkipReason = step.GetSkipReason()
			}
			continue
		}
		plan = merged(in.State, plan, step)
		if i == len(all)-1 || editsBytes(plan) > maxPlanBytes {
			break
		}
		if state, err = simulate(ctx, state, step); err != nil {
			return nil, err
		}
	}
	return plan, nil
}

// editsBytes returns about the size of a plan's edits.
func editsBytes(plan *compactordv1.CompactionPlan) int {
	var bytes int
	for _, e := range plan.GetEdits() {
		bytes += len(e.GetReplacement()) + editBytes
	}
	return bytes
}
