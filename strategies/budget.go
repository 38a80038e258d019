package strategies

import (
	"math"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// budget says how large the view may be by the limits of the policy. It is computed from the state that a plan begins
// with, since only for that state a provider's report exists beside our estimate.
type budget struct {
	state *session.State
	// overhead is the size of what is not in the log, in tokens of the model.
	overhead uint64
	// stored is the size of the view in stored tokens, and reported the same in tokens of the model.
	stored, reported uint64
	// window is the most that a request to the model can contain, in its tokens; 0 if it is unknown.
	window uint64
	// due are the sizes from which on compaction is due. A size is the greatest number if it is never due.
	due size
	// afterCut is the largest size that a cut should leave: due, less the share that free_ratio leaves free.
	afterCut size
	// target is where a ladder stops, in stored tokens. targetKnown is false if the policy has none.
	target      uint64
	targetKnown bool
}

// newBudget returns the budget of a state. If the provider refused the context as too long, the context counts as at
// least a full window, whatever the estimate.
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
	if tokens, ok := dueTokens(in, report.GetOverheadTokens()); ok && trigger.GetFreeRatio() > 0 {
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
	if tokens, ok := dueTokens(in, uint32(b.overhead)); ok {
		b.due[byTokens] = b.storedWithin(tokens)
	}
	if in.Reason == compactordv1.CompactionReason_COMPACTION_REASON_OVERFLOW && !b.dueAt(viewSize(in.State)) {
		// The view was too long, whatever the trigger. It counts as a full window, so compaction is due at three
		// quarters of it, like by default.
		b.due[byTokens] = b.stored / 4 * 3
	}
}

// dueTokens returns at how many tokens of the model compaction is due: at the trigger, or at the raised one where the
// fixed tokens reach it. Otherwise nothing would be left for a summary.
func dueTokens(in *Input, overhead uint32) (uint32, bool) {
	trigger, ok := session.TriggerTokensIn(in.State.Head, in.Policy)
	if !ok {
		return 0, false
	}
	if fixed := fixedTokens(in.State.Head, in.Policy, overhead); fixed >= trigger {
		if raised, ok := raisedTrigger(in.Policy, fixed); ok {
			return raised, true
		}
	}
	return trigger, true
}

// storedWithin returns how many stored tokens the view may have so that the context has at most this many tokens of the
// model. If the provider reported more tokens than estimated, the limit is lower in proportion.
func (b *budget) storedWithin(context uint32) uint64 {
	left := uint64(context) - min(uint64(context), b.overhead)
	limit := uint64(b.state.Stored(uint32(left)))
	if b.reported > 0 {
		limit = min(limit, left*b.stored/b.reported)
	}
	return limit
}

// contextWith returns the size of the context if the view has this many stored tokens, in tokens of the model.
func (b *budget) contextWith(stored uint64) uint64 {
	view := uint64(b.state.Scaled(saturated(stored)))
	if b.stored > 0 {
		view = max(view, stored*b.reported/b.stored)
	}
	return b.overhead + view
}

// context returns the size of the context with the view of a state. For the state that the plan begins with, that is
// the reported size.
func (b *budget) context(s *session.State) uint64 {
	if s == b.state {
		return b.overhead + b.reported
	}
	return b.contextWith(uint64(s.Head.GetViewTokens()))
}

// dueAt says whether compaction is due for a view of this size.
func (b *budget) dueAt(view size) bool { return len(b.due.reachedBy(view)) > 0 }

// done says whether a ladder stops at a view of this size: it is at or under the target, and no other trigger is met.
func (b *budget) done(view size) bool {
	return b.targetKnown && view[byTokens] <= b.target && !b.dueAt(view)
}

// ratioSlack keeps a product from being rounded up if floating point puts it just above a whole number.
const ratioSlack = 1e-6

// lessFree returns the trigger less the share of it that must stay free.
func lessFree(trigger uint32, ratio float64) uint32 {
	return trigger - min(trigger, uint32(math.Ceil(ratio*float64(trigger)-ratioSlack)))
}
