// Package strategies contains the strategies, which make a view smaller, and the presets that combine them.
//
// A strategy reads a state and returns a plan: edits, and at most one cut. It does no I/O and changes nothing; the
// service runs the summarizer and commits. A plan that does nothing is a result and not an error. Check checks every
// plan, whoever made it, before it is carried out.
//
// A strategy is in the file with its name, and a preset in preset_NAME.go or in a file with presets of the same origin.
// These files are shared:
//
//   - size.go, budget.go: the size of a view, and its limits by the policy.
//   - first_kept.go, cut_budget.go, summary_budget.go: the place of a cut, and the budget of its summary.
//   - hiding.go, old_results.go: which results are hidden, and what replaces them.
//   - edit_results.go, placeholder.go: edits that shorten a result, and the texts in its place.
//   - folds.go, fold_range.go: folds, and the ranges that can be folded.
//   - simulate.go, simulate_edits.go: the state that a plan or an edit would leave.
//   - plan_all.go, merge_plans.go, nesting.go: several strategies that make one plan.
//   - check.go, check_edits.go, check_folds.go: the invariants of every plan.
//   - policy.go, policy_warnings.go, resolve.go, resolved.go, defaults.go: policies, parameters and defaults.
//   - sections.go: the checks of a policy's sections.
//   - report.go, due_plan.go, may_help.go, pause.go: whether to compact now.
//   - registry.go, catalogue.go: finding strategies by name, and listing them.
//   - subtasks.go, todos.go: sub-tasks, and the to-do lists that bound them.
//   - slots.go, touched_files.go, digest.go: facts from the log for summaries and digests.
//   - call_facts.go, argument_fields.go: what plans read of calls, which is remembered with the state.
package strategies

import (
	"context"
	"errors"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// Errors of this package.
var (
	// ErrUnknown: no strategy or preset has the requested name.
	ErrUnknown = errors.New("unknown name")
	// ErrNotImplemented: the strategy is in the contract, but this program cannot run it yet.
	ErrNotImplemented = errors.New("not implemented")
	// ErrInvalidPlan: a plan breaks an invariant.
	ErrInvalidPlan = errors.New("invalid plan")
)

// Input is the input of a strategy.
type Input struct {
	// State is a snapshot. A strategy must not change it.
	State *session.State
	// Policy is the policy in effect for this request.
	Policy *compactordv1.Policy
	Reason compactordv1.CompactionReason
	// Checkpoints are, for each checkpoint in force, the index of the first message after it, ascending. They may lack
	// those before the kept part, and are only set where FoldsByCheckpoints holds for the strategy.
	Checkpoints []uint32
	// TodosBefore are the messages before the kept part that write the to-do list in force there: the newest one with a
	// whole list, and those after it that change it, in order. They may lack some that are far back, and are only set where
	// FoldsByTodos holds for the strategy.
	TodosBefore []*compactordv1.LoggedMessage
	// EditsOnly says that no cut may be planned, since no summary would be smaller than what it replaces.
	EditsOnly bool

	// whole is the input of the whole plan; nil if this is it.
	whole *Input
	// registry runs nested strategies.
	registry *Registry
}

// budget returns the budget of the whole plan.
func (in *Input) budget() *budget {
	if in.whole != nil {
		return newBudget(in.whole)
	}
	return newBudget(in)
}

// beginning returns the state that the whole plan begins with.
func (in *Input) beginning() *session.State {
	if in.whole != nil {
		return in.whole.State
	}
	return in.State
}

// nested runs a nested strategy on the state that earlier strategies would leave.
func (in *Input) nested(
	ctx context.Context, s *session.State, parameters *compactordv1.Strategy,
) (*compactordv1.CompactionPlan, error) {
	inner := *in
	inner.State = s
	if inner.whole == nil {
		inner.whole = in
	}
	return in.registry.Plan(ctx, &inner, parameters)
}

// Strategy makes plans.
type Strategy interface {
	// Name returns the field of compactord.v1.Strategy that selects it, or the name of a CustomStrategy.
	Name() string
	// Plan returns what to do. parameters is the message that selected the strategy. A plan that does nothing has a
	// skip_reason. After the context has ended, it returns the context's cause. It may run for several sessions
	// concurrently.
	Plan(ctx context.Context, in *Input, parameters *compactordv1.Strategy) (*compactordv1.CompactionPlan, error)
}

// Builtin returns the strategies that every daemon has.
func Builtin() []Strategy {
	return []Strategy{
		Summarize{},
		HideToolResults{},
		MaskObservations{},
		PruneToolOutputs{},
		ClearToolUses{},
		TruncateToolOutputs{},
		Offload{},
		StripMedia{},
		DropThinking{},
		CompressObservations{},
		FoldSubtasks{},
		DialogueOnly{},
		FirstEffective{},
		Ladder{},
	}
}

// noop returns a plan that does nothing.
func noop(in *Input, why compactordv1.SkipReason) *compactordv1.CompactionPlan {
	return &compactordv1.CompactionPlan{TokensBefore: in.State.Head.GetViewTokens(), SkipReason: why}
}

// does says whether a plan does anything.
func does(plan *compactordv1.CompactionPlan) bool {
	return plan.GetCut() != nil || len(plan.GetEdits()) > 0
}

// ended returns the context's cause after the context has ended.
func ended(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return context.Cause(ctx)
}
