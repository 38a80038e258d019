package session

import (
	"math"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Due says whether compaction is due by the figures of a report, whatever stands in its way.
func Due(p *compactordv1.Policy, r *compactordv1.ContextReport) bool {
	t := triggerOf(p)
	return r.TriggerTokens != nil && r.GetTokens() >= r.GetTriggerTokens() ||
		t.TriggerToolGroups != nil && r.GetToolGroups() >= t.GetTriggerToolGroups() ||
		t.MaxViewBytes != nil && r.GetViewBytes() >= t.GetMaxViewBytes()
}

// triggerOf is the policy's trigger; without one, one that sets nothing.
func triggerOf(p *compactordv1.Policy) *compactordv1.Trigger {
	if p.GetTrigger() == nil {
		return &compactordv1.Trigger{}
	}
	return p.GetTrigger()
}

// ratioSlack keeps products such as 0.07 x 100, which floating point puts just above the whole number, from being
// rounded up to the next.
const ratioSlack = 1e-6

// TriggerTokens is the lowest of the policy's triggers in tokens, at least 1; 0 and false where none holds.
func TriggerTokens(p *compactordv1.Policy) (uint32, bool) {
	t := triggerOf(p)
	lowest := uint32(math.MaxUint32)
	if t.TriggerTokens != nil {
		lowest = t.GetTriggerTokens()
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
	// An empty context is never due, however small the ratio.
	return max(1, lowest), true
}

// ContextLimit is the most tokens that a request to the model can hold: the window, or the input limit where that is
// lower. A policy's shares and reserves are of it. It is 0 where the window is unknown.
func ContextLimit(p *compactordv1.Policy) uint32 {
	if p.GetMaxInputTokens() == 0 {
		return p.GetContextWindow()
	}
	return min(p.GetContextWindow(), p.GetMaxInputTokens())
}
