package sessiontest

import (
	"slices"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// Breaker goes through the whole log, whatever was put aside of it: automatic compactions in a row that did not help, and
// how much was appended and by how much it closes since the third or a later one of them.
func (m *Model) Breaker() *storagev1.Breaker {
	b := &storagev1.Breaker{}
	var appended uint32
	for sequence, item := range m.log.Items[:m.Point+1] {
		if item.Message != nil {
			appended += m.appendedBy(uint32(sequence))
			continue
		}
		manual, completed, counts := ending(item.Record)
		switch {
		case !counts || manual && !completed:
		case manual, completed && !m.log.dueAfter(uint32(sequence)):
			b = &storagev1.Breaker{}
		default:
			b = &storagev1.Breaker{Failures: b.GetFailures() + 1}
			if b.GetFailures() > 2 {
				b.OpenedAtTokens, b.SpanTokens = appended, m.log.span(uint32(sequence))
			}
		}
	}
	if b.GetFailures() == 0 {
		return nil
	}
	return b
}

// ending says of a record that ends a compaction whether somebody asked for it and whether it completed. It counts where
// the record is the operation's one that tells.
func ending(r *compactordv1.Record) (manual, completed, counts bool) {
	var reason compactordv1.CompactionReason
	switch {
	case r.GetCompaction() != nil:
		reason, completed = r.GetCompaction().GetReason(), true
	case r.GetPrune().GetOperationId() != "" && !r.GetPrune().GetWithCut():
		reason, completed = r.GetPrune().GetReason(), true
	case r.GetAttempt() != nil &&
		r.GetAttempt().GetOutcome() != compactordv1.AttemptOutcome_ATTEMPT_OUTCOME_CANCELLED &&
		r.GetAttempt().GetErrorReason() != compactordv1.ErrorReason_ERROR_REASON_INTERRUPTED:
		reason = r.GetAttempt().GetReason()
	}
	return reason == compactordv1.CompactionReason_COMPACTION_REASON_MANUAL, completed, reason != 0
}

// BreakerClosesAfter is how many tokens are still to be appended for the breaker to close; 0 where it is not open.
func (m *Model) BreakerClosesAfter() uint32 {
	b := m.Breaker()
	if b.GetFailures() < 3 {
		return 0
	}
	since := m.scaled(m.Head().GetAppendedTokens() - b.GetOpenedAtTokens())
	return uint32(max(0, int64(b.GetSpanTokens())-int64(since)))
}

// dueAfter says whether compaction was due just after a record that changes views, by the policy in force then.
func (l *Log) dueAfter(sequence uint32) bool {
	if due, known := l.due[sequence]; known {
		return due
	}
	if l.due == nil {
		l.due = make(map[uint32]bool)
	}
	l.due[sequence] = NewModel(l, sequence, l.PolicyAt(sequence)).Due()
	return l.due[sequence]
}

func (l *Log) span(sequence uint32) uint32 {
	then := NewModel(l, sequence, l.PolicyAt(sequence))
	whole := then.Policy.GetContextWindow()
	if whole == 0 {
		whole = then.trigger()
	}
	if whole == 0 {
		whole = then.scaled(then.View(session.ViewOptions{}).Tokens)
	}
	return max(1, whole/10)
}

// trigger is the least number of tokens that is due, found by trying; 0 where none is.
func (m *Model) trigger() uint32 {
	for tokens := range uint32(1000) {
		if m.dueWith(tokens) {
			return tokens
		}
	}
	return 0
}

// readable is how much of the window the model reads.
func (m *Model) readable() uint32 {
	if input := m.Policy.GetMaxInputTokens(); input != 0 && input < m.Policy.GetContextWindow() {
		return input
	}
	return m.Policy.GetContextWindow()
}

// dueWith says whether compaction is due in a context of so many tokens, its size in bytes and groups aside.
func (m *Model) dueWith(tokens uint32) bool {
	t, window := m.Policy.GetTrigger(), float64(m.readable())
	if tokens == 0 || t == nil {
		return false
	}
	const slack = 1e-6
	return t.TriggerTokens != nil && tokens >= t.GetTriggerTokens() ||
		window > 0 && t.TriggerRatio != nil && float64(tokens) >= window*t.GetTriggerRatio()-slack ||
		window > 0 && t.ReserveTokens != nil && float64(tokens)+float64(t.GetReserveTokens()) >= window
}

// Due says whether compaction is due, blocked or not.
func (m *Model) Due() bool {
	v, t := m.View(session.ViewOptions{}), m.Policy.GetTrigger()
	return m.dueWith(m.Tokens()) ||
		t.GetTriggerToolGroups() > 0 && v.ToolGroups >= t.GetTriggerToolGroups() ||
		t.GetMaxViewBytes() > 0 && v.Bytes >= t.GetMaxViewBytes()
}

// Tokens are those of the context, with what is outside the log.
func (m *Model) Tokens() uint32 {
	tokens, reported := m.ContextTokens()
	if !reported {
		tokens += m.outside()
	}
	return tokens
}

func (m *Model) outside() uint32 {
	if m.Policy.GetOverheadTokens() > 0 {
		return m.Policy.GetOverheadTokens()
	}
	if learnt := m.Overhead(); learnt != nil && m.Policy.OverheadTokens == nil {
		return *learnt
	}
	return 0
}

// Fixed are the tokens that no compaction can remove.
func (m *Model) Fixed() uint32 {
	h := m.Head()
	tail := h.GetTailTokens()
	if m.editsTail(m.Policy.GetStrategy()) && len(m.OpenCalls()) == 0 {
		tail = h.GetPinnedTailTokens()
	}
	return m.scaled(h.GetLeadTokens()+h.GetPinnedTokens()+h.GetPinnedKeptTokens()+tail) + m.outside()
}

// nested are the strategies that a strategy runs; itself where it runs none.
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

// editsTail says whether a strategy hides also the results of the newest group.
func (m *Model) editsTail(s *compactordv1.Strategy) bool {
	return slices.ContainsFunc(nested(s), func(s *compactordv1.Strategy) bool {
		return s.GetHideToolResults() != nil && s.GetHideToolResults().GetKeepGroups() == 0
	})
}

// Pause is how many tokens are still to be appended before the policy's strategy rewrites the view by itself.
func (m *Model) Pause() uint32 {
	at, s, t := m.rewrittenAt(), m.Policy.GetStrategy(), m.Policy.GetTrigger()
	var least uint32
	for _, one := range nested(s) {
		if n := one.GetHideToolResults().GetMinimumTokens(); n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	if at == nil || least == 0 {
		return 0
	}
	since := m.scaled(m.Head().GetAppendedTokens() - *at)
	if s.GetLadder() != nil {
		trigger, tokens := m.trigger(), m.Tokens()
		view := m.View(session.ViewOptions{})
		byOthers := t.GetTriggerToolGroups() > 0 && view.ToolGroups >= t.GetTriggerToolGroups() ||
			t.GetMaxViewBytes() > 0 && view.Bytes >= t.GetMaxViewBytes()
		if trigger == 0 || byOthers {
			return 0
		}
		least = min(least, trigger/5)
		room := least
		if window := m.readable(); window > 0 {
			room = uint32(max(0, int64(window)-int64(trigger))) / 2
		}
		return uint32(max(0, min(int64(least)-int64(since), int64(trigger)+int64(room)-int64(tokens))))
	}
	return uint32(max(0, int64(least)-int64(since)))
}

// BlockedBy are all reasons for which compaction never is due, or does not help where it is.
func (m *Model) BlockedBy() map[compactordv1.BlockedBy]bool {
	t, reasons := m.Policy.GetTrigger(), make(map[compactordv1.BlockedBy]bool)
	hold := func(reason compactordv1.BlockedBy, holds bool) {
		if holds {
			reasons[reason] = true
		}
	}
	hold(compactordv1.BlockedBy_BLOCKED_BY_DISABLED, t != nil && t.Enabled != nil && !t.GetEnabled())
	hold(compactordv1.BlockedBy_BLOCKED_BY_WINDOW_UNKNOWN, m.Policy.GetContextWindow() == 0 &&
		t.GetTriggerTokens()+t.GetTriggerToolGroups()+t.GetMaxViewBytes() == 0)
	hold(compactordv1.BlockedBy_BLOCKED_BY_BREAKER_OPEN, m.BreakerClosesAfter() > 0 && m.Due())
	hold(compactordv1.BlockedBy_BLOCKED_BY_TARGET_UNREACHABLE, m.dueWith(m.Tokens()) && m.dueWith(m.Fixed()) ||
		m.Due() && !m.mayHelp())
	hold(compactordv1.BlockedBy_BLOCKED_BY_PAUSE, m.Due() && m.Pause() > 0)
	return reasons
}

// mayHelp says whether the policy's strategy may take anything out of the view; also where there is no strategy that could
// be asked.
func (m *Model) mayHelp() bool {
	h, s := m.Head(), m.Policy.GetStrategy()
	return s == nil || slices.ContainsFunc(nested(s), func(s *compactordv1.Strategy) bool {
		if s.GetSummarize() != nil {
			return m.cuttable()
		}
		hide := s.GetHideToolResults()
		return h.GetViewToolGroups() > hide.GetKeepGroups() && m.scaled(h.GetPrunableTokens()) > hide.GetMinimumTokens()
	})
}

// cuttable says whether there is a cut that takes out a message which is not pinned.
func (m *Model) cuttable() bool {
	for _, place := range m.CutPlaces() {
		for _, a := range m.Kept() {
			if a.Index < place && !m.Pinned(a.Index) {
				return true
			}
		}
	}
	return false
}
