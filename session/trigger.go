package session

import (
	"math"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Due says whether compaction is due by the figures of a report, blocked or not.
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

// DueByBytesAlone says whether compaction is due by the size of the view in bytes, and by nothing else.
func DueByBytesAlone(p *compactordv1.Policy, r *compactordv1.ContextReport) bool {
	limit := p.GetTrigger().GetMaxViewBytes()
	if limit == 0 || r.GetViewBytes() < limit {
		return false
	}
	other := proto.CloneOf(p)
	other.Trigger.MaxViewBytes = nil
	return !Due(other, r)
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

// Unreachable says whether compaction is due by tokens, and what none can remove is at or above the trigger.
func Unreachable(r *compactordv1.ContextReport) bool {
	return r.TriggerTokens != nil && min(r.GetTokens(), r.GetFixedTokens()) >= r.GetTriggerTokens()
}

// blockedBy lists each reason that holds: what makes compaction never due, and what makes one useless that is due.
func blockedBy(h *storagev1.Head, p *compactordv1.Policy, r *compactordv1.ContextReport) []compactordv1.BlockedBy {
	t := triggerOf(p)
	unreachable := Unreachable(r) || Due(p, r) && !mayHelp(h, p)
	var reasons []compactordv1.BlockedBy
	for _, of := range []struct {
		holds  bool
		reason compactordv1.BlockedBy
	}{
		{Due(p, r) && r.GetBreakerClosesAfterTokens() > 0, compactordv1.BlockedBy_BLOCKED_BY_BREAKER_OPEN},
		{unreachable, compactordv1.BlockedBy_BLOCKED_BY_TARGET_UNREACHABLE},
		{Due(p, r) && r.GetPauseEndsAfterTokens() > 0, compactordv1.BlockedBy_BLOCKED_BY_PAUSE},
		{
			p.ContextWindow == nil && t.TriggerTokens == nil && t.TriggerToolGroups == nil && t.MaxViewBytes == nil,
			compactordv1.BlockedBy_BLOCKED_BY_WINDOW_UNKNOWN,
		},
		{t.Enabled != nil && !t.GetEnabled(), compactordv1.BlockedBy_BLOCKED_BY_DISABLED},
	} {
		if of.holds {
			reasons = append(reasons, of.reason)
		}
	}
	return reasons
}
