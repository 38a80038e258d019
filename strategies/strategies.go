// Package strategies holds the ways to make a view smaller, and the presets that combine them.
//
// A strategy looks at a state and returns a plan: edits, and at most one cut. It does no I/O and changes nothing; the
// service runs the summarizer and commits. A plan that does nothing is an answer and not an error. Every plan, whoever
// made it, is checked with Check before it is carried out.
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
