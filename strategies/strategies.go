// Package strategies holds the ways to make a view smaller, and the presets that combine them.
//
// A strategy looks at a state and returns a plan: edits, and at most one cut. It does no I/O and changes nothing; the
// service runs the summarizer and commits. A plan that does nothing is an answer and not an error. Every plan, whoever
// made it, is checked with Check before it is carried out.
//
// A strategy is in the file of its name, and a preset in preset_NAME.go or with others of its origin. What they share:
//
//   - size.go, budget.go: what a view takes, and what it may hold by the limits of the policy.
//   - first_kept.go, cut_budget.go, summary_budget.go: where a cut goes, and how long its summary may be.
//   - hiding.go, old_results.go: which results are hidden, and what takes their place.
//   - edit_results.go, placeholder.go: edits that show a result shorter, and the texts in its place.
//   - simulate.go, simulate_edits.go: the state that a plan or an edit would leave.
//   - plan_all.go, merge_plans.go, nesting.go: several strategies that make one plan.
//   - check.go, check_edits.go: the invariants that every plan keeps.
//   - policy.go, resolve.go, resolved.go, defaults.go: policies and parameters, and what holds where nothing is given.
//   - report.go, may_help.go, pause.go: whether to compact now.
//   - registry.go, catalogue.go: finding strategies by name, and listing them.
//   - slots.go, touched_files.go, digest.go: what is taken from the log for summaries and digests.
package strategies

import (
	"context"
	"errors"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// Errors of this package.
var (
	// ErrUnknown: no strategy, or no preset, has the name that was asked for.
	ErrUnknown = errors.New("unknown name")
	// ErrNotImplemented: the strategy is in the contract, but this program cannot run it yet.
	ErrNotImplemented = errors.New("not implemented")
	// ErrInvalidPlan: a plan breaks an invariant.
	ErrInvalidPlan = errors.New("invalid plan")
)

// Input is what a strategy plans on.
type Input struct {
	// State is a snapshot; a strategy must not change it.
	State *session.State
	// Policy is what is in force for this request.
	Policy *compactordv1.Policy
	Reason compactordv1.CompactionReason
	// EditsOnly says that no cut is to be planned: no summary would be smaller than what it replaces.
	EditsOnly bool

	// whole is the input that the whole plan begins with; nil where that is this one.
	whole *Input
	// registry plans what a strategy nests.
	registry *Registry
}

// budget is that of the whole plan.
func (in *Input) budget() *budget {
	if in.whole != nil {
		return newBudget(in.whole)
	}
	return newBudget(in)
}

// beginning is the state that the whole plan begins with.
func (in *Input) beginning() *session.State {
	if in.whole != nil {
		return in.whole.State
	}
	return in.State
}

// nested has a strategy plan that this one nests, on a state that others before it would leave.
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

// Strategy plans.
type Strategy interface {
	// Name is the field of compactord.v1.Strategy that selects it, or the name of a CustomStrategy.
	Name() string
	// Plan returns what is to be done. parameters is the message that selected the strategy. Where nothing is to be done,
	// the plan has a skip_reason. It returns the context's cause once that has ended. It may run for several sessions at
	// once.
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
		DialogueOnly{},
		FirstEffective{},
		Ladder{},
	}
}

// noop returns the plan that does nothing.
func noop(in *Input, why compactordv1.SkipReason) *compactordv1.CompactionPlan {
	return &compactordv1.CompactionPlan{TokensBefore: in.State.Head.GetViewTokens(), SkipReason: why}
}

// does says whether a plan does anything.
func does(plan *compactordv1.CompactionPlan) bool {
	return plan.GetCut() != nil || len(plan.GetEdits()) > 0
}

// ended returns the context's cause once it has ended.
func ended(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return context.Cause(ctx)
}
