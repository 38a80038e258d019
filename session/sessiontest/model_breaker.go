package sessiontest

import (
	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// Breaker computes the breaker from the whole log, including what was put aside. It counts automatic compactions in a
// row that did not help. From the third on it notes how much was appended by then, and after how much more it closes.
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

// ending describes a record that ends a compaction: whether somebody asked for it, and whether it completed. counts
// reports whether this is the one record that ends the operation.
func ending(r *compactordv1.Record) (manual, completed, counts bool) {
	var reason compactordv1.CompactionReason
	switch {
	case r.GetCompaction() != nil:
		reason, completed = r.GetCompaction().GetProvenance().GetReason(), true
	case r.GetPrune().GetProvenance().GetOperationId() != "" && !r.GetPrune().GetWithCut():
		reason, completed = r.GetPrune().GetProvenance().GetReason(), true
	case r.GetAttempt() != nil &&
		r.GetAttempt().GetOutcome() != compactordv1.AttemptOutcome_ATTEMPT_OUTCOME_CANCELLED &&
		r.GetAttempt().GetErrorReason() != compactordv1.ErrorReason_ERROR_REASON_INTERRUPTED:
		reason = r.GetAttempt().GetProvenance().GetReason()
	}
	return reason == compactordv1.CompactionReason_COMPACTION_REASON_MANUAL, completed, reason != 0
}

// BreakerClosesAfter returns how many more tokens must be appended before the breaker closes; 0 where it is not open.
func (m *Model) BreakerClosesAfter() uint32 {
	b := m.Breaker()
	if b.GetFailures() < 3 {
		return 0
	}
	since := m.Scaled(m.Head().GetAppendedTokens() - b.GetOpenedAtTokens())
	return uint32(max(0, int64(b.GetSpanTokens())-int64(since)))
}

// dueAfter reports whether compaction was due directly after a record that changes views, by the policy then in force.
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
		whole = then.Trigger()
	}
	if whole == 0 {
		whole = then.Scaled(then.View(session.ViewOptions{}).Tokens)
	}
	return max(1, whole/10)
}

// Trigger returns the lowest number of tokens at which compaction is due, found by trying all; 0 where there is none.
func (m *Model) Trigger() uint32 {
	for tokens := range m.beforeConversation() + 1000 {
		if m.DueAt(tokens) {
			return tokens
		}
	}
	return 0
}

// Readable returns how much of the window the model reads.
func (m *Model) Readable() uint32 {
	if input := m.Policy.GetMaxInputTokens(); input != 0 && input < m.Policy.GetContextWindow() {
		return input
	}
	return m.Policy.GetContextWindow()
}

// DueAt reports whether compaction is due in a context of this many tokens, apart from its bytes and tool groups.
func (m *Model) DueAt(tokens uint32) bool {
	t, window := m.Policy.GetTrigger(), float64(m.Readable())
	if tokens == 0 || t == nil {
		return false
	}
	const slack = 1e-6
	return t.TriggerTokens != nil && tokens >= t.GetTriggerTokens() ||
		t.TriggerConversationTokens != nil && tokens >= t.GetTriggerConversationTokens()+m.beforeConversation() ||
		window > 0 && t.TriggerRatio != nil && float64(tokens) >= window*t.GetTriggerRatio()-slack ||
		window > 0 && t.ReserveTokens != nil && float64(tokens)+float64(t.GetReserveTokens()) >= window
}

// beforeConversation returns the tokens of the overhead, of the leading messages and of context blocks.
func (m *Model) beforeConversation() uint32 {
	h := &storagev1.Head{}
	m.contextFigures(h)
	return m.Outside() + m.Scaled(h.GetLeadTokens()+h.GetBlockTokens())
}

// Due reports whether compaction is due, also where something prevents it.
func (m *Model) Due() bool {
	v, t := m.View(session.ViewOptions{}), m.Policy.GetTrigger()
	return m.DueAt(m.Tokens()) ||
		t.GetTriggerToolGroups() > 0 && v.ToolGroups >= t.GetTriggerToolGroups() ||
		t.GetMaxViewBytes() > 0 && v.Bytes >= t.GetMaxViewBytes()
}

// Tokens returns the tokens of the context, with those outside the log.
func (m *Model) Tokens() uint32 {
	tokens, reported := m.ContextTokens()
	if !reported {
		tokens += m.Outside()
	}
	return tokens
}

// Outside returns the tokens of the context that are not in the log.
func (m *Model) Outside() uint32 {
	if m.Policy.GetOverheadTokens() > 0 {
		return m.Policy.GetOverheadTokens()
	}
	if learnt := m.Overhead(); learnt != nil && m.Policy.OverheadTokens == nil {
		return *learnt
	}
	return 0
}
