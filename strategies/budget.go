package strategies

import (
	"math"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// budget is what the view may hold by the limits of the policy. It is made of the state that a plan begins with: only there
// the provider's report of tokens stands beside our estimate.
type budget struct {
	state *session.State
	// overhead is what is outside the log, in tokens of the model.
	overhead uint64
	// stored are the tokens of the view as they are stored, and reported what they come to in tokens of the model.
	stored, reported uint64
	// window is what a request to the model can hold, in its tokens; 0 where it is unknown.
	window uint64
	// due are the sizes from which on compaction is due; the greatest number where it never is.
	due size
	// afterCut is the most that a cut is to leave: due, less what is to be free of it.
	afterCut size
	// target is where a ladder stops, in stored tokens; false where the policy has none.
	target      uint64
	targetKnown bool
}

// newBudget returns the budget of a state. A context that the provider refused as too long holds a window at least, whatever
// was estimated.
func newBudget(in *Input) *budget {
	report := session.Measure(in.State.Head, in.Policy)
	b := &budget{
		state:    in.State,
		overhead: uint64(report.GetOverheadTokens()),
		stored:   uint64(in.State.Head.GetViewTokens()),
		reported: uint64(report.GetTokens() - min(report.GetTokens(), report.GetOverheadTokens())),
		window:   uint64(session.ContextLimit(in.Policy)),
		due:      size{math.MaxUint64, math.MaxUint64, math.MaxUint64},
	}
	if in.Reason == compactordv1.CompactionReason_COMPACTION_REASON_OVERFLOW {
		b.reported = max(b.reported, b.window-min(b.window, b.overhead))
	}
	b.setDue(in)
	b.afterCut = b.due
	trigger := in.Policy.GetTrigger()
	if tokens, ok := session.TriggerTokens(in.Policy); ok && trigger.GetFreeRatio() > 0 {
		b.afterCut[byTokens] = min(b.afterCut[byTokens], b.storedWithin(lessFree(tokens, trigger.GetFreeRatio())))
	}
	if trigger != nil && trigger.TargetTokens != nil {
		b.target, b.targetKnown = b.storedWithin(trigger.GetTargetTokens()), true
	}
	return b
}

func (b *budget) setDue(in *Input) {
	trigger := in.Policy.GetTrigger()
	if trigger != nil && trigger.TriggerToolGroups != nil {
		b.due[byGroups] = uint64(trigger.GetTriggerToolGroups())
	}
	if trigger != nil && trigger.MaxViewBytes != nil {
		b.due[byBytes] = uint64(trigger.GetMaxViewBytes())
	}
	if tokens, ok := session.TriggerTokens(in.Policy); ok {
		b.due[byTokens] = b.storedWithin(tokens)
	}
	if in.Reason == compactordv1.CompactionReason_COMPACTION_REASON_OVERFLOW && !b.dueAt(viewSize(in.State)) {
		// The view was too long, whatever the trigger is. Taken for a full window, it is due at three quarters, as by default.
		b.due[byTokens] = b.stored / 4 * 3
	}
}

// storedWithin is the most stored tokens of a view with which the context holds so many tokens of the model. Where the
// provider reports more than we estimated, the view takes as much more, and the limit is as much lower.
func (b *budget) storedWithin(context uint32) uint64 {
	left := uint64(context) - min(uint64(context), b.overhead)
	limit := uint64(b.state.Stored(uint32(left)))
	if b.reported > 0 {
		limit = min(limit, left*b.stored/b.reported)
	}
	return limit
}

// contextWith is what the context holds with so many stored tokens in the view, in tokens of the model.
func (b *budget) contextWith(stored uint64) uint64 {
	view := uint64(b.state.Scaled(uint32(min(stored, math.MaxUint32))))
	if b.stored > 0 {
		view = max(view, stored*b.reported/b.stored)
	}
	return b.overhead + view
}

// context is what the context holds with the view of a state: as the report says where it is the state that the plan
// begins with.
func (b *budget) context(s *session.State) uint64 {
	if s == b.state {
		return b.overhead + b.reported
	}
	return b.contextWith(uint64(s.Head.GetViewTokens()))
}

// dueAt says whether compaction is due with a view of this size.
func (b *budget) dueAt(view size) bool { return len(b.due.reachedBy(view)) > 0 }

// done says whether a ladder stops at a view of this size: it is at the target, and nothing else is due.
func (b *budget) done(view size) bool {
	return b.targetKnown && view[byTokens] <= b.target && !b.dueAt(view)
}

// ratioSlack keeps a product that floating point puts just above a whole number from being rounded up to the next.
const ratioSlack = 1e-6

// lessFree is what a trigger allows less the share of it that is to be left free.
func lessFree(trigger uint32, ratio float64) uint32 {
	return trigger - min(trigger, uint32(math.Ceil(ratio*float64(trigger)-ratioSlack)))
}
