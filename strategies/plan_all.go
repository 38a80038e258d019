package strategies

import (
	"context"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// PlanAll has several strategies plan, each on what those before it would leave, and returns what they do together. What
// does not fit into one plan is left out.
func (r *Registry) PlanAll(
	ctx context.Context, in *Input, list []*compactordv1.Strategy,
) (*compactordv1.CompactionPlan, error) {
	planned := *in
	planned.registry = r
	return guarded(ctx, inOrder(list), &planned, nil)
}

// inOrder is a strategy of strategies that all run.
type inOrder []*compactordv1.Strategy

// Name says what it does: it cannot be selected.
func (inOrder) Name() string { return "in order" }

// Plan returns what they do together. Where that is nothing, the last one's reason holds.
func (all inOrder) Plan(
	ctx context.Context, in *Input, _ *compactordv1.Strategy,
) (*compactordv1.CompactionPlan, error) {
	plan := noop(in, compactordv1.SkipReason_SKIP_REASON_NOTHING_TO_COMPACT)
	state := in.State
	for _, parameters := range all {
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
		if editsBytes(plan) > maxPlanBytes {
			break
		}
		if state, err = simulate(state, step); err != nil {
			return nil, err
		}
	}
	return plan, nil
}

// editsBytes is about what the edits of a plan take up.
func editsBytes(plan *compactordv1.CompactionPlan) int {
	var bytes int
	for _, e := range plan.GetEdits() {
		bytes += len(e.GetReplacement()) + editBytes
	}
	return bytes
}
