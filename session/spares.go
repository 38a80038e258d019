package session

import (
	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// sparesNewest says whether a strategy edits nothing of the newest turn, as far as the head tells: it only cuts, or what it
// leaves alone is all that there is. The smallest valid kept part never reaches back beyond that turn.
func sparesNewest(h *storagev1.Head, s *compactordv1.Strategy) bool {
	for n := range Nested(s) {
		if !Nests(n.Strategy) && !sparesIt(h, n.Strategy) {
			return false
		}
	}
	return true
}

func sparesIt(h *storagev1.Head, s *compactordv1.Strategy) bool {
	groups := h.GetViewToolGroups()
	switch k := s.GetKind().(type) {
	case *compactordv1.Strategy_Summarize, *compactordv1.Strategy_DialogueOnly:
		return true
	case *compactordv1.Strategy_HideToolResults:
		return groups <= given(k.HideToolResults.KeepGroups, 5)
	case *compactordv1.Strategy_MaskObservations:
		return k.MaskObservations.GetUnit() == compactordv1.MaskUnit_MASK_UNIT_TURN ||
			groups <= given(k.MaskObservations.Window, 10)
	case *compactordv1.Strategy_PruneToolOutputs:
		if k.PruneToolOutputs.ProtectGroups != nil {
			return groups <= k.PruneToolOutputs.GetProtectGroups()
		}
		return given(k.PruneToolOutputs.ProtectTurns, 2) > 0
	case *compactordv1.Strategy_DropThinking:
		return given(k.DropThinking.KeepTurns, 1) > 0
	case *compactordv1.Strategy_StripMedia:
		return h.GetViewMedia() <= k.StripMedia.GetKeepNewest()
	default:
		return false
	}
}

// given is a parameter, or its default.
func given(n *uint32, otherwise uint32) uint32 {
	if n == nil {
		return otherwise
	}
	return *n
}
