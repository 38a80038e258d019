package strategies

import (
	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// pauseOfTrigger is how many of the longest pauses fit into the trigger: a caller that sets a trigger far below the
// window wants it kept.
const pauseOfTrigger = 5

// pauseEndsAfter returns how many tokens must still be appended before a strategy may rewrite the view automatically
// again, or 0 if it need not wait. A rewrite soon after another costs the provider's prompt cache and gains almost
// nothing.
//
// A strategy that only hides results waits for its minimum_tokens. One that nests others waits for the lowest
// minimum_tokens among them, but at most for a fifth of the trigger. It waits only if compaction is due by tokens alone
// and the context is not half-way from the trigger to the window.
func pauseEndsAfter(h *storagev1.Head, p *compactordv1.Policy, s *compactordv1.Strategy) uint32 {
	minimum, demanded := leastDemanded(s)
	if !demanded || h.RewrittenAtTokens == nil {
		return 0
	}
	since := session.Scaled(h, h.GetAppendedTokens()-h.GetRewrittenAtTokens())
	if Nests(s) {
		trigger, byTokens := session.TriggerTokensIn(h, p)
		if !byTokens || dueBesideTokens(h, p) {
			return 0
		}
		minimum = min(minimum, trigger/pauseOfTrigger)
		most := uint64(trigger) + uint64(minimum)
		if window := session.ContextLimit(p); window > 0 {
			most = uint64(trigger) + uint64(window-min(window, trigger))/2
		}
		left := most - min(most, uint64(session.Measure(h, p).GetTokens()))
		return min(minimum-min(minimum, since), saturated(left))
	}
	return minimum - min(minimum, since)
}

// dueBesideTokens says whether compaction is due by tool groups or bytes.
func dueBesideTokens(h *storagev1.Head, p *compactordv1.Policy) bool {
	t := p.GetTrigger()
	return t != nil && (t.TriggerToolGroups != nil && h.GetViewToolGroups() >= t.GetTriggerToolGroups() ||
		t.MaxViewBytes != nil && h.GetViewBytes() >= t.GetMaxViewBytes())
}

// leastDemanded returns the lowest minimum_tokens of a strategy and all that it nests. It returns false if none has
// one.
func leastDemanded(s *compactordv1.Strategy) (least uint32, demanded bool) {
	for nested := range All(s) {
		if minimum := minimumOf(nested); minimum > 0 && (!demanded || minimum < least) {
			least, demanded = minimum, true
		}
	}
	return least, demanded
}

// minimumOf returns a strategy's minimum_tokens, with its default. It returns 0 for strategies without one.
func minimumOf(s *compactordv1.Strategy) uint32 {
	if p, ok := s.GetKind().(*compactordv1.Strategy_PruneToolOutputs); ok &&
		(p.PruneToolOutputs == nil || p.PruneToolOutputs.MinimumTokens == nil) {
		return defaultMinimumTokens
	}
	if p, hides := hidingOf(s); hides {
		return p.GetMinimumTokens()
	}
	return 0
}

// inPause says whether a strategy that nests others waits for more content although compaction is due. Within another
// strategy the outermost one has already decided.
func inPause(in *Input, s *compactordv1.Strategy) bool {
	return in.whole == nil && in.Reason == compactordv1.CompactionReason_COMPACTION_REASON_THRESHOLD &&
		pauseEndsAfter(in.State.Head, in.Policy, s) > 0
}
