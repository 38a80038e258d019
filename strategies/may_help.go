package strategies

import (
	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// mayHelp says whether a policy's strategy may remove anything from the view. The session's head does not contain
// enough to be sure of a yes. A no is certain except for stray results: hide_tool_results and mask_observations can hide
// them, but the head does not count them. Without a strategy it returns true.
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
		// What they remove is before the smallest valid kept part, unless they also edit the newest messages.
		return cuttable(h) || !sparesTail(h, s)
	case *compactordv1.Strategy_StripMedia:
		return h.GetViewMedia() > k.StripMedia.GetKeepNewest()
	case *compactordv1.Strategy_FoldSubtasks:
		return foldingMayHelp(h, FoldSubtasks{}.Resolved(p, s).GetFoldSubtasks())
	default:
		p, hides := hidingOf(s)
		return !hides || hidingMayHelp(h, s, p)
	}
}

// foldingMayHelp says whether there may be a finished sub-task to fold: between two checkpoints, or from a to-do call on.
func foldingMayHelp(h *storagev1.Head, p *compactordv1.FoldSubtasksStrategy) bool {
	if p.GetBounds() == compactordv1.SubtaskBounds_SUBTASK_BOUNDS_CHECKPOINTS {
		return h.GetLastCheckpoint() > p.GetKeepSubtasks()+1
	}
	return h.GetViewToolGroups() > 0
}

// hidingMayHelp says whether a strategy that hides results may hide enough of them.
func hidingMayHelp(h *storagev1.Head, s *compactordv1.Strategy, p hidingParameters) bool {
	// The head contains the size of results, but not of arguments.
	enough := p.GetClearArguments() || h.GetPrunableTokens() > session.Stored(h, minimumOf(s))
	return enough && h.GetViewToolGroups() > sparedGroups(s)
}

// rungReached says whether the context is full enough for a rung before any rung has run.
func rungReached(h *storagev1.Head, p *compactordv1.Policy, rung *compactordv1.LadderStrategy_Rung) bool {
	if rung.AtRatio == nil {
		return true
	}
	limit := session.ContextLimit(p)
	return limit > 0 && float64(session.Measure(h, p).GetTokens()) >= rung.GetAtRatio()*float64(limit)
}

// cuttable says whether a cut removes a message that is not pinned from the view. A message that repairs leave out
// counts as shown, since the head does not distinguish them.
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

// sparesTail says whether a strategy edits nothing in the smallest valid kept part, except for stray results. That part
// has at most one tool group, unless groups overlap. No strategy edits an open group.
func sparesTail(h *storagev1.Head, s *compactordv1.Strategy) bool {
	if s == nil || len(h.GetOpenCalls()) > 0 {
		return true
	}
	for nested := range All(s) {
		if !Nests(nested) && !leavesNewest(h, nested) {
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
	case *compactordv1.Strategy_FoldSubtasks:
		// The call that ends a sub-task begins a valid kept part, and stays.
		return k.FoldSubtasks.GetBounds() != compactordv1.SubtaskBounds_SUBTASK_BOUNDS_CHECKPOINTS
	default:
		return sparedGroups(s) > 0
	}
}

// sparedGroups returns how many of the newest tool groups a strategy certainly leaves unchanged. It returns 0 for
// strategies that do not count groups. A number of turns is not enough: a turn can have no group, and the newest group
// then belongs to an earlier turn.
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
	case *compactordv1.Strategy_TruncateToolOutputs:
		return s.GetTruncateToolOutputs().GetKeepGroups()
	default:
		return 0
	}
}
