package strategies

import (
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// pauseOfTrigger is how much of the trigger may be new before a pause ends: a trigger far below the window is there to be
// kept to.
const pauseOfTrigger = 5

// inPause says whether strategies that nest others wait for more content, though compaction is due by tokens: a rewrite
// that comes right after another costs the provider's prompt cache for next to nothing. The least that one of the nested
// strategies demands between rewrites counts, but no more than half of what is left behind the trigger, so that nothing
// overflows.
func inPause(in *Input, nested []*compactordv1.Strategy) bool {
	minimum, demanded := leastDemanded(nested)
	trigger, byTokens := session.TriggerTokens(in.Policy)
	if !demanded || !byTokens || in.measure().dueBeside(viewLoad(in.beginning())) {
		return false
	}
	minimum = min(minimum, trigger/pauseOfTrigger)
	if window := in.Policy.GetContextWindow(); window > 0 {
		minimum = min(minimum, (window-min(window, trigger))/2)
	}
	return tooSoon(in, minimum)
}

// leastDemanded returns the least minimum_tokens of strategies; false where none has one.
func leastDemanded(all []*compactordv1.Strategy) (least uint32, demanded bool) {
	for _, s := range all {
		if n, ok := minimumOf(s); ok && (!demanded || n < least) {
			least, demanded = n, true
		}
	}
	return least, demanded
}

func minimumOf(s *compactordv1.Strategy) (uint32, bool) {
	switch k := s.GetKind().(type) {
	case *compactordv1.Strategy_PruneToolOutputs:
		resolved := PruneToolOutputs{}.Resolved(nil, s).GetPruneToolOutputs()
		return resolved.GetMinimumTokens(), true
	case *compactordv1.Strategy_HideToolResults:
		return k.HideToolResults.GetMinimumTokens(), k.HideToolResults.GetMinimumTokens() > 0
	case *compactordv1.Strategy_MaskObservations:
		return k.MaskObservations.GetMinimumTokens(), k.MaskObservations.GetMinimumTokens() > 0
	case *compactordv1.Strategy_FirstEffective:
		return leastDemanded(k.FirstEffective.GetStrategies())
	case *compactordv1.Strategy_Ladder:
		return leastDemanded(rungsOf(k.Ladder))
	default:
		return 0, false
	}
}

func rungsOf(l *compactordv1.LadderStrategy) []*compactordv1.Strategy {
	all := make([]*compactordv1.Strategy, len(l.GetRungs()))
	for i, rung := range l.GetRungs() {
		all[i] = rung.GetStrategy()
	}
	return all
}
