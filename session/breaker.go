package session

import (
	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// breakerFailures is the number of automatic compactions in a row that did not help after which the breaker opens.
const breakerFailures = 3

// BreakerClosesAfter returns how many more tokens must be appended before the breaker closes; 0 where it is not open.
func BreakerClosesAfter(h *storagev1.Head) uint32 {
	b := h.GetBreaker()
	if b.GetFailures() < breakerFailures {
		return 0
	}
	since := Scaled(h, h.GetAppendedTokens()-b.GetOpenedAtTokens())
	return b.GetSpanTokens() - min(since, b.GetSpanTokens())
}

// verdict is the effect of a record on the breaker.
type verdict int

const (
	// noVerdict leaves the breaker as it is.
	noVerdict verdict = iota
	// noHelp counts as a failure of automatic compaction.
	noHelp
	// helped closes the breaker and sets the count to 0.
	helped
)

// breakerAfter returns the breaker after a record. h is the head after the record, with the figures of its view. The
// tokens after which it closes are fixed when it opens, so that a later change of policy does not close it.
func breakerAfter(h *storagev1.Head, p *compactordv1.Policy, r *compactordv1.Record) *storagev1.Breaker {
	switch judge(h, p, r) {
	case helped:
		return nil
	case noHelp:
		b := &storagev1.Breaker{Failures: plus(h.GetBreaker().GetFailures(), 1)}
		if b.GetFailures() >= breakerFailures {
			b.OpenedAtTokens, b.SpanTokens = h.GetAppendedTokens(), breakerSpan(h, p)
		}
		return b
	default:
		return h.GetBreaker()
	}
}

func judge(h *storagev1.Head, p *compactordv1.Policy, r *compactordv1.Record) verdict {
	reason, completed := compactionOf(r)
	automatic := reason == compactordv1.CompactionReason_COMPACTION_REASON_THRESHOLD ||
		reason == compactordv1.CompactionReason_COMPACTION_REASON_OVERFLOW
	switch {
	case reason == compactordv1.CompactionReason_COMPACTION_REASON_UNSPECIFIED:
		return noVerdict
	case completed && (!automatic || !Due(p, Measure(h, p))):
		return helped
	case automatic:
		return noHelp
	default:
		return noVerdict
	}
}

// compactionOf returns the reason of the compaction that a record ends, and whether the compaction completed. The
// reason is UNSPECIFIED where the record ends no compaction. Exactly one record ends each operation: its compaction
// entry, or its edits where it made no cut, or its attempt. A compaction that was cancelled, or interrupted by the end
// of the daemon, does not count: it does not show whether compaction helps.
func compactionOf(r *compactordv1.Record) (reason compactordv1.CompactionReason, completed bool) {
	const none = compactordv1.CompactionReason_COMPACTION_REASON_UNSPECIFIED
	switch k := r.GetKind().(type) {
	case *compactordv1.Record_Compaction:
		return k.Compaction.GetProvenance().GetReason(), true
	case *compactordv1.Record_Prune:
		if k.Prune.GetProvenance().GetOperationId() == "" || k.Prune.GetWithCut() {
			return none, false
		}
		return k.Prune.GetProvenance().GetReason(), true
	case *compactordv1.Record_Attempt:
		if k.Attempt.GetOutcome() == compactordv1.AttemptOutcome_ATTEMPT_OUTCOME_CANCELLED ||
			k.Attempt.GetErrorReason() == compactordv1.ErrorReason_ERROR_REASON_INTERRUPTED {
			return none, false
		}
		return k.Attempt.GetProvenance().GetReason(), false
	default:
		return none, false
	}
}

// breakerSpan returns a tenth of the context window. Where the window is unknown it is a tenth of the trigger, and
// without a trigger in tokens a tenth of the view. It is at least one token, since another try on the same log would
// end the same.
func breakerSpan(h *storagev1.Head, p *compactordv1.Policy) uint32 {
	const tenths = 10
	whole := p.GetContextWindow()
	if whole == 0 {
		whole, _ = TriggerTokensIn(h, p)
	}
	if whole == 0 {
		whole = Scaled(h, h.GetViewTokens())
	}
	return max(1, whole/tenths)
}
