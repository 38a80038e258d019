package session_test

import (
	"slices"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
)

// Each active message is shown, covered by the summary, collapsed with its group, folded into a text that the view shows,
// left out by repairs, or a leading one that instructions replace.
func requireCoverage(t *rapid.T, s step) {
	shown := make(map[uint32]bool)
	var folds []*compactordv1.IndexRange
	for _, vm := range s.state.View(session.ViewOptions{}).Messages {
		missing := vm.GetLogRepair().GetKind() == compactordv1.LogRepairKind_LOG_REPAIR_KIND_MISSING_RESULT
		if !missing && ofLog(vm) && vm.GetSummaryOf() == "" && vm.GetFolded() == nil {
			shown[logIndex(vm)] = true
		}
		if fold := vm.GetFolded(); fold != nil {
			folds = append(folds, fold)
		}
	}
	for _, a := range s.model.Messages {
		state := session.StateOf(s.state.Head, a.Index)
		covered := state == compactordv1.MessageState_MESSAGE_STATE_COVERED
		replaced := state == compactordv1.MessageState_MESSAGE_STATE_REPLACED
		require.False(t, replaced && shown[a.Index], "message %d is replaced", a.Index)
		standsFor := func(fold *compactordv1.IndexRange) bool { return fold.GetStart() <= a.Index && a.Index < fold.GetEnd() }
		require.Equal(t, s.model.Folded(a) && !covered, slices.ContainsFunc(folds, standsFor) && !s.model.Pinned(a.Index),
			"message %d", a.Index)
		if slices.ContainsFunc(folds, standsFor) {
			continue
		}
		if !shown[a.Index] && !covered && !replaced && !a.LeftOut() && !inCollapsed(s.state, a) && !s.model.Emptied(a) {
			require.Fail(t, "shown nowhere", "message %d", a.Index)
		}
	}
}

func inCollapsed(s *session.State, a *sessiontest.Active) bool {
	return a.Answers != nil && !session.Pinned(s.Head, a.Index) &&
		slices.ContainsFunc(s.Edits[a.Answers.Owner.Index], func(e *compactordv1.Edit) bool {
			return e.GetKind() == compactordv1.EditKind_EDIT_KIND_COLLAPSE_GROUP
		})
}

// ofLog reports whether a view message is the summary, or is or stands in for a message of the log.
func ofLog(vm *compactordv1.ViewMessage) bool {
	return vm.GetContextBlock() == nil && vm.GetInstructions() == 0
}

// logIndex returns the index of the log's message that a view message is or stands in for.
func logIndex(vm *compactordv1.ViewMessage) uint32 {
	if repair := vm.GetLogRepair(); repair != nil {
		return repair.GetIndex()
	}
	if fold := vm.GetFolded(); fold != nil {
		return fold.GetStart()
	}
	return vm.GetIndex()
}

// A result comes once, after its call; a call without one is an open call, and reported as such.
func requirePairing(t *rapid.T, s step) {
	requirePaired(t, session.Awaited(s.state.Head), s.state.View(session.ViewOptions{}).Messages)
}

func requirePaired(t require.TestingT, open []*compactordv1.CallRef, view []*compactordv1.ViewMessage) {
	waiting := make(map[string]int)
	for _, vm := range view {
		for _, p := range vm.GetMessage().GetParts() {
			if call := p.GetToolCall(); call != nil {
				require.NotEmpty(t, call.GetId())
				waiting[call.GetId()]++
			}
			if r := p.GetToolResult(); r != nil {
				require.Positive(t, waiting[r.GetCallId()], "a result for %q, which no call waits for", r.GetCallId())
				waiting[r.GetCallId()]--
			}
		}
	}
	for _, c := range open {
		require.Positive(t, waiting[c.GetId()], "open call %q is not shown", c.GetId())
		waiting[c.GetId()]--
	}
	for id, n := range waiting {
		require.Zero(t, n, "call %q without a result", id)
	}
}

// The leading messages, the summary, the pinned or replayed messages and the kept part come in this order. Each part
// has the order of the log, except late results. After a summary the kept part begins with USER or ASSISTANT.
func requireOrder(t *rapid.T, s step) {
	h := s.state.Head
	part, last, lastFold := 0, -1, -1
	for _, vm := range s.state.View(session.ViewOptions{}).Messages {
		if vm.GetLogRepair().GetKind() == compactordv1.LogRepairKind_LOG_REPAIR_KIND_MISSING_RESULT || !ofLog(vm) {
			continue
		}
		now, index := partOf(vm, h.GetLeadEnd()), int(logIndex(vm))
		require.GreaterOrEqual(t, now, part)
		if now != part {
			part, last = now, -1
		}
		if now == partSummary {
			continue
		}
		if now == partKept && last < 0 && h.GetCompaction() != nil && !emptiedAtStart(s.model) {
			require.Equal(t, h.GetCompaction().GetFirstKeptIndex(), logIndex(vm))
			require.Contains(t, []compactordv1.Role{compactordv1.Role_ROLE_USER, compactordv1.Role_ROLE_ASSISTANT},
				vm.GetMessage().GetRole())
		}
		if vm.GetLogRepair() == nil && vm.GetFolded() == nil && s.model.Find(vm.GetIndex()).Late {
			requireBesideItsCall(t, s.model, vm, last)
			continue
		}
		if s.model.Pinned(uint32(index)) && index == lastFold {
			// A pinned message follows the text of the fold that it carries.
			continue
		}
		require.Greater(t, index, last)
		last = index
		if vm.GetFolded() != nil {
			lastFold = index
		}
	}
}

// A late result comes after its call and before everything that was said since.
func requireBesideItsCall(t *rapid.T, m *sessiontest.Model, vm *compactordv1.ViewMessage, last int) {
	call := m.Find(vm.GetIndex()).Answers
	require.GreaterOrEqual(t, last, int(call.Owner.Index))
	require.Less(t, last, int(call.GivenUpBy.Index))
}

// emptiedAtStart reports whether an edit after the cut has emptied the first message of the kept part.
func emptiedAtStart(m *sessiontest.Model) bool {
	return len(m.Kept()) > 0 && m.Emptied(m.Kept()[0])
}

const (
	partLead = iota
	partSummary
	partOutOfPlace
	partKept
)

func partOf(vm *compactordv1.ViewMessage, leadEnd uint32) int {
	switch {
	case vm.GetSummaryOf() != "":
		return partSummary
	case vm.GetOutOfPlace():
		return partOutOfPlace
	case vm.GetLogRepair() == nil && logIndex(vm) < leadEnd:
		return partLead
	default:
		return partKept
	}
}

// A tool loop keeps all its thinking or none.
func requireLoopsWhole(t *rapid.T, s step) {
	v := s.state.View(session.ViewOptions{Thinking: compactordv1.ThinkingPolicy_THINKING_POLICY_KEEP_VALID})
	dropped := v.Report.GetThinkingDropped()
	s.g.Counts[sessiontest.ThinkingDropped] += len(dropped)
	if v.Report.GetDisableThinking() {
		s.g.Counts[sessiontest.LiveLoopLostItsOwn]++
	}
	for _, vm := range v.Messages {
		if vm.GetLogRepair() != nil || vm.GetSummaryOf() != "" || vm.GetFolded() != nil || !ofLog(vm) || !thinks(vm.GetMessage()) {
			continue
		}
		for _, other := range s.model.Loop(s.model.Find(vm.GetIndex())) {
			require.NotContains(t, dropped, other.Index, "the loop of %d, which keeps its own, drops some", vm.GetIndex())
		}
	}
}

func thinks(m *compactordv1.Message) bool {
	return slices.ContainsFunc(m.GetParts(), func(p *compactordv1.Part) bool { return p.GetThinking() != nil })
}
