package session

import (
	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// breakerFailures is how many automatic compactions in a row that did not help open the breaker.
const breakerFailures = 3

// BreakerClosesAfter says how many more tokens must be appended for the breaker to close; 0 where it is not open.
func BreakerClosesAfter(h *storagev1.Head) uint32 {
	b := h.GetBreaker()
	if b.GetFailures() < breakerFailures {
		return 0
	}
	since := Scaled(h, h.GetAppendedTokens()-b.GetOpenedAtTokens())
	return b.GetSpanTokens() - min(since, b.GetSpanTokens())
}

// verdict is what a record tells the breaker.
type verdict int

const (
	// ofNoCompaction tells it nothing.
	ofNoCompaction verdict = iota
	// noHelp counts against automatic compaction.
	noHelp
	// helped closes the breaker, and the count begins anew.
	helped
)

// breakerAfter is the breaker after a record that left the head h, whose figures of the view are computed already. How
// much closes it is fixed when it opens, so that no later policy does.
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
		return ofNoCompaction
	case completed && (!automatic || !Due(p, Measure(h, p))):
		return helped
	case automatic:
		return noHelp
	default:
		return ofNoCompaction
	}
}

// compactionOf is why the compaction ran that a record ends, and whether it completed; no reason where the record ends
// none. Each operation has one such record: its cut where it made one, else its edits, else its attempt. One that was
// cancelled, or cut off with its daemon, counts as none: that tells nothing of whether compaction helps.
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

// breakerSpan is a tenth of the window; where that is unknown of the trigger, and where there is none in tokens of what
// the view holds. It is at least one token: what is the same as before is not tried again.
func breakerSpan(h *storagev1.Head, p *compactordv1.Policy) uint32 {
	const tenths = 10
	whole := p.GetContextWindow()
	if whole == 0 {
		whole, _ = TriggerTokens(p)
	}
	if whole == 0 {
		whole = Scaled(h, h.GetViewTokens())
	}
	return max(1, whole/tenths)
}
