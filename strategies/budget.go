package strategies

import (
	"math"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// gauge measures views against the limits of the policy. It is made of the state that a plan begins with, since only
// there the provider's report stands beside the estimate.
type gauge struct {
	state *session.State
	// overhead is what is outside the log, in tokens of the model.
	overhead uint64
	// held are the stored tokens of the view, and takes what they come to in tokens of the model.
	held, takes uint64
	// window is what a request can hold of the model's, in its tokens; 0 where it is unknown.
	window uint64
	// due are the loads at which compaction is due; the greatest number where none is.
	due load
	// roomy is due less what a cut is to leave free of it.
	roomy load
	// target is where a ladder stops, in stored tokens; false where the policy has none.
	target      uint64
	targetKnown bool
}

// newGauge returns the gauge of a state. A context that the provider refused as too long holds a window at least, whatever
// was estimated.
func newGauge(in *Input) *gauge {
	report := session.Measure(in.State.Head, in.Policy)
	g := &gauge{
		state:    in.State,
		overhead: uint64(report.GetOverheadTokens()),
		held:     uint64(in.State.Head.GetViewTokens()),
		takes:    uint64(report.GetTokens() - min(report.GetTokens(), report.GetOverheadTokens())),
		window:   uint64(session.ContextLimit(in.Policy)),
		due:      load{math.MaxUint64, math.MaxUint64, math.MaxUint64},
	}
	if in.Reason == compactordv1.CompactionReason_COMPACTION_REASON_OVERFLOW {
		g.takes = max(g.takes, g.window-min(g.window, g.overhead))
	}
	trigger := in.Policy.GetTrigger()
	if trigger != nil && trigger.TriggerToolGroups != nil {
		g.due[byGroups] = uint64(trigger.GetTriggerToolGroups())
	}
	if trigger != nil && trigger.MaxViewBytes != nil {
		g.due[byBytes] = uint64(trigger.GetMaxViewBytes())
	}
	if tokens, ok := session.TriggerTokens(in.Policy); ok {
		g.due[byTokens] = g.stored(tokens)
	}
	if in.Reason == compactordv1.CompactionReason_COMPACTION_REASON_OVERFLOW && !g.dueAt(viewLoad(in.State)) {
		// The view was too long, whatever the trigger is. Taken for a full window, it is due at three quarters, as by default.
		g.due[byTokens] = g.held / 4 * 3
	}
	g.roomy = g.due
	if tokens, ok := session.TriggerTokens(in.Policy); ok && trigger.GetFreeRatio() > 0 {
		g.roomy[byTokens] = min(g.roomy[byTokens], g.stored(lessFree(tokens, trigger.GetFreeRatio())))
	}
	if trigger != nil && trigger.TargetTokens != nil {
		g.target, g.targetKnown = g.stored(trigger.GetTargetTokens()), true
	}
	return g
}

// stored is the most that a view may have in stored tokens for the context to hold so many. Where the provider reports
// more than was estimated, the view takes as much more, and the limit is as much lower.
func (g *gauge) stored(context uint32) uint64 {
	left := uint64(context) - min(uint64(context), g.overhead)
	limit := uint64(g.state.Stored(uint32(left)))
	if g.takes > 0 {
		limit = min(limit, left*g.held/g.takes)
	}
	return limit
}

// holding is what the context holds with so many stored tokens in the view, in tokens of the model.
func (g *gauge) holding(stored uint64) uint64 {
	view := uint64(g.state.Scaled(uint32(min(stored, math.MaxUint32))))
	if g.held > 0 {
		view = max(view, stored*g.takes/g.held)
	}
	return g.overhead + view
}

// context is what the context holds with the view of a state: as the report says where it is the state that the plan
// begins with.
func (g *gauge) context(s *session.State) uint64 {
	if s == g.state {
		return g.overhead + g.takes
	}
	return g.holding(uint64(s.Head.GetViewTokens()))
}

// dueAt says whether compaction is due with such a view.
func (g *gauge) dueAt(view load) bool { return len(g.due.reachedBy(view)) > 0 }

// done says whether a ladder is at rest with such a view: at its target, and nothing else is due.
func (g *gauge) done(view load) bool {
	return g.targetKnown && view[byTokens] <= g.target && !g.dueAt(view)
}

// viewLoad is what the view of a state weighs.
func viewLoad(s *session.State) load {
	return load{
		byTokens: uint64(s.Head.GetViewTokens()),
		byGroups: uint64(s.Head.GetViewToolGroups()),
		byBytes:  uint64(s.Head.GetViewBytes()),
	}
}
