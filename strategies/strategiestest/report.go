package strategiestest

import (
	"slices"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
)

// ReportModel computes what reports on a log must say that depends on the policy's strategy. It knows the strategies that
// sessiontest's generator draws.
type ReportModel struct{ *sessiontest.Model }

// Fixed returns how many tokens no compaction can remove.
func (m ReportModel) Fixed() uint32 {
	h := m.Head()
	tail := h.GetTailTokens()
	if m.editsTail(m.Policy.GetStrategy()) && len(m.OpenCalls()) == 0 {
		tail = h.GetPinnedTailTokens()
	}
	return m.Scaled(h.GetLeadTokens()+h.GetBlockTokens()+h.GetPinnedTokens()+h.GetPinnedKeptTokens()+tail) + m.Outside()
}

// nested returns the strategies that a strategy runs, or the strategy itself if it runs none.
func nested(s *compactordv1.Strategy) []*compactordv1.Strategy {
	var all []*compactordv1.Strategy
	for _, rung := range s.GetLadder().GetRungs() {
		all = append(all, rung.GetStrategy())
	}
	all = append(all, s.GetFirstEffective().GetStrategies()...)
	if len(all) == 0 && s != nil {
		all = append(all, s)
	}
	return all
}

// editsTail says whether a strategy also hides the results of the newest group.
func (m ReportModel) editsTail(s *compactordv1.Strategy) bool {
	return slices.ContainsFunc(nested(s), func(s *compactordv1.Strategy) bool {
		return s.GetHideToolResults() != nil && s.GetHideToolResults().GetKeepGroups() == 0
	})
}

// Pause returns how many tokens must still be appended before the policy's strategy rewrites the view automatically.
func (m ReportModel) Pause() uint32 {
	at, s, t := m.RewrittenAt(), m.Policy.GetStrategy(), m.Policy.GetTrigger()
	var least uint32
	for _, one := range nested(s) {
		if n := one.GetHideToolResults().GetMinimumTokens(); n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	if at == nil || least == 0 {
		return 0
	}
	since := m.Scaled(m.Head().GetAppendedTokens() - *at)
	if s.GetLadder() != nil {
		trigger, tokens := m.Trigger(), m.Tokens()
		view := m.View(session.ViewOptions{})
		byOthers := t.GetTriggerToolGroups() > 0 && view.ToolGroups >= t.GetTriggerToolGroups() ||
			t.GetMaxViewBytes() > 0 && view.Bytes >= t.GetMaxViewBytes()
		if trigger == 0 || byOthers {
			return 0
		}
		least = min(least, trigger/5)
		room := least
		if window := m.Readable(); window > 0 {
			room = uint32(max(0, int64(window)-int64(trigger))) / 2
		}
		return uint32(max(0, min(int64(least)-int64(since), int64(trigger)+int64(room)-int64(tokens))))
	}
	return uint32(max(0, int64(least)-int64(since)))
}

// BlockedBy returns all reasons why compaction is never due, or would not help if it is due.
func (m ReportModel) BlockedBy() map[compactordv1.BlockedBy]bool {
	t, reasons := m.Policy.GetTrigger(), make(map[compactordv1.BlockedBy]bool)
	hold := func(reason compactordv1.BlockedBy, holds bool) {
		if holds {
			reasons[reason] = true
		}
	}
	hold(compactordv1.BlockedBy_BLOCKED_BY_DISABLED, t != nil && t.Enabled != nil && !t.GetEnabled())
	hold(compactordv1.BlockedBy_BLOCKED_BY_WINDOW_UNKNOWN, m.Policy.GetContextWindow() == 0 &&
		t.GetTriggerTokens()+t.GetTriggerConversationTokens()+t.GetTriggerToolGroups()+t.GetMaxViewBytes() == 0)
	hold(compactordv1.BlockedBy_BLOCKED_BY_BREAKER_OPEN, m.BreakerClosesAfter() > 0 && m.Due())
	hold(compactordv1.BlockedBy_BLOCKED_BY_TARGET_UNREACHABLE, m.DueAt(m.Tokens()) && m.DueAt(m.Fixed()) && !m.almostFull() ||
		m.Due() && !m.mayHelp())
	hold(compactordv1.BlockedBy_BLOCKED_BY_PAUSE, m.Due() && m.Pause() > 0)
	return reasons
}

// almostFull says whether at most a quarter is free of what the fixed tokens leave of the window.
func (m ReportModel) almostFull() bool {
	window, fixed, tokens := int64(m.Readable()), int64(m.Fixed()), int64(m.Tokens())
	return window > fixed && window-tokens <= (window-fixed)/4
}

// mayHelp says whether the policy's strategy may remove anything from the view. Without a strategy it returns true.
func (m ReportModel) mayHelp() bool {
	h, s := m.Head(), m.Policy.GetStrategy()
	return s == nil || slices.ContainsFunc(nested(s), func(s *compactordv1.Strategy) bool {
		if s.GetSummarize() != nil {
			return m.cuttable()
		}
		hide := s.GetHideToolResults()
		return h.GetViewToolGroups() > hide.GetKeepGroups() && m.Scaled(h.GetPrunableTokens()) > hide.GetMinimumTokens()
	})
}

// cuttable says whether some cut removes a message that is not pinned.
func (m ReportModel) cuttable() bool {
	for _, place := range m.CutPlaces() {
		for _, a := range m.Kept() {
			if a.Index < place && !m.Pinned(a.Index) {
				return true
			}
		}
	}
	return false
}
