package session

import (
	"math"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Due reports whether compaction is due by the figures of a report, even where something prevents it.
func Due(p *compactordv1.Policy, r *compactordv1.ContextReport) bool {
	t := triggerOf(p)
	return r.TriggerTokens != nil && r.GetTokens() >= r.GetTriggerTokens() ||
		t.TriggerToolGroups != nil && r.GetToolGroups() >= t.GetTriggerToolGroups() ||
		t.MaxViewBytes != nil && r.GetViewBytes() >= t.GetMaxViewBytes()
}

// triggerOf returns the policy's trigger; an empty one where the policy has none.
func triggerOf(p *compactordv1.Policy) *compactordv1.Trigger {
	if p.GetTrigger() == nil {
		return &compactordv1.Trigger{}
	}
	return p.GetTrigger()
}

// ratioSlack keeps products such as 0.07 x 100 from being rounded up: floating point makes them slightly more than the
// whole number.
const ratioSlack = 1e-6

// TriggerTokens returns the lowest of the policy's triggers in tokens, at least 1; 0 and false where none applies. It is
// the lowest of a session that has neither an overhead nor SYSTEM and DEVELOPER messages at the start.
func TriggerTokens(p *compactordv1.Policy) (uint32, bool) {
	return TriggerTokensIn(&storagev1.Head{}, p)
}

// TriggerTokensIn returns the lowest of the policy's triggers in tokens in a session with this head, at least 1; 0 and
// false where none applies.
func TriggerTokensIn(h *storagev1.Head, p *compactordv1.Policy) (uint32, bool) {
	t := triggerOf(p)
	lowest := uint32(math.MaxUint32)
	if t.TriggerTokens != nil {
		lowest = t.GetTriggerTokens()
	}
	if t.TriggerConversationTokens != nil {
		beside := plus(overhead(h, p), Scaled(h, plus(h.GetLeadTokens(), h.GetBlockTokens())))
		lowest = min(lowest, plus(t.GetTriggerConversationTokens(), beside))
	}
	if limit := ContextLimit(p); limit > 0 {
		if t.TriggerRatio != nil {
			lowest = min(lowest, uint32(math.Ceil(t.GetTriggerRatio()*float64(limit)-ratioSlack)))
		}
		if t.ReserveTokens != nil {
			lowest = min(lowest, limit-min(limit, t.GetReserveTokens()))
		}
	}
	if lowest == math.MaxUint32 {
		return 0, false
	}
	// Compaction of an empty context is never due, however small the ratio is.
	return max(1, lowest), true
}

// ContextLimit returns the most tokens that a request to the model can hold: the context window, or the input limit
// where that is lower. A policy's ratios and reserves refer to it. It is 0 where the window is unknown.
func ContextLimit(p *compactordv1.Policy) uint32 {
	if p.GetMaxInputTokens() == 0 {
		return p.GetContextWindow()
	}
	return min(p.GetContextWindow(), p.GetMaxInputTokens())
}
