package strategies

import (
	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// mayHelp says whether a policy's strategy may take anything out of the view. The head of a session does not hold enough to be
// sure of a yes, but a no is sure. Without a strategy the answer is yes.
func mayHelp(h *storagev1.Head, p *compactordv1.Policy) bool {
	return p.GetStrategy() == nil || strategyMayHelp(h, p, p.GetStrategy())
}

func strategyMayHelp(h *storagev1.Head, p *compactordv1.Policy, s *compactordv1.Strategy) bool {
	switch k := s.GetKind().(type) {
	case *compactordv1.Strategy_FirstEffective:
		for _, nested := range k.FirstEffective.GetStrategies() {
			if strategyMayHelp(h, p, nested) {
				return true
			}
		}
		return false
	case *compactordv1.Strategy_Ladder:
		for _, rung := range k.Ladder.GetRungs() {
			if rungReached(h, p, rung) && strategyMayHelp(h, p, rung.GetStrategy()) {
				return true
			}
		}
		return false
	case *compactordv1.Strategy_Summarize, *compactordv1.Strategy_DialogueOnly, *compactordv1.Strategy_DropThinking:
		// What they take out or edit is older than the smallest valid kept part, unless they leave nothing alone.
		return cuttable(h) || !sparesTail(h, s)
	case *compactordv1.Strategy_StripMedia:
		return h.GetViewMedia() > k.StripMedia.GetKeepNewest()
	default:
		return hidingMayHelp(h, s)
	}
}

// hidingMayHelp says whether a strategy that hides results may hide any that are worth it, and true for all others.
func hidingMayHelp(h *storagev1.Head, s *compactordv1.Strategy) bool {
	p, hides := hidingOf(s)
	if !hides {
		return true
	}
	// The head tells what results hold, and not what arguments do.
	enough := p.GetClearArguments() || h.GetPrunableTokens() > session.Stored(h, minimumOf(s))
	return enough && h.GetViewToolGroups() > sparedGroups(s)
}

// rungReached says whether the context is as full as a rung wants it, before the others have run.
func rungReached(h *storagev1.Head, p *compactordv1.Policy, rung *compactordv1.LadderStrategy_Rung) bool {
	if rung.AtRatio == nil {
		return true
	}
	limit := session.ContextLimit(p)
	return limit > 0 && float64(session.Measure(h, p).GetTokens()) >= rung.GetAtRatio()*float64(limit)
}

// cuttable says whether a cut takes anything out of the view that is not pinned. A message that repairs leave out is
// taken for one that is shown, since the head does not tell them apart.
func cuttable(h *storagev1.Head) bool {
	if h.TailIndex == nil {
		return false
	}
	for index, end := session.ActiveRun(h, session.KeptFrom(h)); index < h.GetTailIndex(); index, end = session.ActiveRun(h, end) {
		for ; index < min(end, h.GetTailIndex()); index++ {
			if !session.Pinned(h, index) {
				return true
			}
		}
	}
	return false
}

// sparesTail says whether a strategy edits nothing of the smallest valid kept part, which holds one tool group at most
// unless groups overlap. No strategy edits a group that still waits for results.
func sparesTail(h *storagev1.Head, s *compactordv1.Strategy) bool {
	if s == nil || len(h.GetOpenCalls()) > 0 {
		return true
	}
	for n := range Nested(s) {
		if !Nests(n.Strategy) && !leavesNewest(h, n.Strategy) {
			return false
		}
	}
	return true
}

func leavesNewest(h *storagev1.Head, s *compactordv1.Strategy) bool {
	switch k := s.GetKind().(type) {
	case *compactordv1.Strategy_Summarize, *compactordv1.Strategy_DialogueOnly:
		return true
	case *compactordv1.Strategy_DropThinking:
		return k.DropThinking == nil || k.DropThinking.KeepTurns == nil || k.DropThinking.GetKeepTurns() > 0
	case *compactordv1.Strategy_StripMedia:
		return h.GetViewMedia() <= k.StripMedia.GetKeepNewest()
	default:
		return sparedGroups(s) > 0
	}
}

// sparedGroups is how many of the newest tool groups a strategy leaves alone at least. A turn can be without a group, but
// the newest group then is of a turn before it. 0 of all strategies that do not count groups.
func sparedGroups(s *compactordv1.Strategy) uint32 {
	switch s.GetKind().(type) {
	case *compactordv1.Strategy_HideToolResults:
		if k := s.GetHideToolResults(); k != nil && k.KeepGroups != nil {
			return k.GetKeepGroups()
		}
		return defaultKeepGroups
	case *compactordv1.Strategy_MaskObservations:
		if k := s.GetMaskObservations(); k != nil {
			if k.KeepTurns != nil {
				return 0
			}
			if k.KeepGroups != nil {
				return k.GetKeepGroups()
			}
		}
		return defaultMaskGroups
	case *compactordv1.Strategy_PruneToolOutputs:
		return s.GetPruneToolOutputs().GetKeepGroups()
	default:
		return 0
	}
}
