package strategies

import (
	"math"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// Report says how full the context is, whether to compact now, and what prevents that. The head alone cannot say with
// certainty whether the policy's strategy would make the view smaller: see ReportPlanned.
func Report(h *storagev1.Head, p *compactordv1.Policy) *compactordv1.ContextReport {
	return ReportPlanned(h, p, mayHelp(h, p))
}

// ReportPlanned is Report where it is known whether a compaction would make the view smaller, as PlanDue says.
func ReportPlanned(h *storagev1.Head, p *compactordv1.Policy, shrinksView bool) *compactordv1.ContextReport {
	r := session.Measure(h, p)
	r.FixedTokens = fixedTokens(h, p, r.GetOverheadTokens())
	r.PauseEndsAfterTokens = pauseEndsAfter(h, p, p.GetStrategy())
	r.BlockedBy = blockedBy(p, r, shrinksView)
	r.ShouldCompact = session.Due(p, r) && len(r.GetBlockedBy()) == 0
	return r
}

// fixedTokens returns the size of what no compaction can remove: the leading messages, context blocks, pinned messages,
// what is not in the log, and the smallest valid kept part if the policy's strategy edits nothing in it. An open group
// belongs to that part.
func fixedTokens(h *storagev1.Head, p *compactordv1.Policy, overhead uint32) uint32 {
	fixed := uint64(h.GetLeadTokens()) + uint64(h.GetBlockTokens()) + uint64(h.GetPinnedTokens()) + uint64(h.GetPinnedKeptTokens())
	if sparesTail(h, p.GetStrategy()) {
		fixed += uint64(h.GetTailTokens())
	} else {
		fixed += uint64(h.GetPinnedTailTokens())
	}
	return saturated(uint64(session.Scaled(h, saturated(fixed))) + uint64(overhead))
}

// Unreachable says whether compaction is due by tokens, but the fixed tokens alone are at or above the trigger. It is not
// worth while then, until the context nearly fills what a request can hold.
func Unreachable(p *compactordv1.Policy, r *compactordv1.ContextReport) bool {
	if r.TriggerTokens == nil || min(r.GetTokens(), r.GetFixedTokens()) < r.GetTriggerTokens() {
		return false
	}
	raised, ok := raisedTrigger(p, r.GetFixedTokens())
	return !ok || r.GetTokens() < raised
}

// raisedTrigger returns at how many tokens a compaction is worth while where the fixed tokens reach the trigger: once
// three quarters are full of what they leave of a request. It returns false if they leave nothing, or the window is
// unknown.
func raisedTrigger(p *compactordv1.Policy, fixed uint32) (uint32, bool) {
	limit := session.ContextLimit(p)
	if limit <= fixed {
		return 0, false
	}
	return limit - (limit-fixed)/4, true
}

// blockedBy returns all reasons that apply: why compaction is never due, and why a due one would not help.
func blockedBy(p *compactordv1.Policy, r *compactordv1.ContextReport, shrinksView bool) []compactordv1.BlockedBy {
	t := p.GetTrigger()
	if t == nil {
		t = &compactordv1.Trigger{}
	}
	unreachable := Unreachable(p, r) || session.Due(p, r) && !shrinksView
	var reasons []compactordv1.BlockedBy
	for _, of := range []struct {
		holds  bool
		reason compactordv1.BlockedBy
	}{
		{session.Due(p, r) && r.GetBreakerClosesAfterTokens() > 0, compactordv1.BlockedBy_BLOCKED_BY_BREAKER_OPEN},
		{unreachable, compactordv1.BlockedBy_BLOCKED_BY_TARGET_UNREACHABLE},
		{session.Due(p, r) && r.GetPauseEndsAfterTokens() > 0, compactordv1.BlockedBy_BLOCKED_BY_PAUSE},
		{
			p.ContextWindow == nil && t.TriggerTokens == nil && t.TriggerConversationTokens == nil &&
				t.TriggerToolGroups == nil && t.MaxViewBytes == nil,
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

// DueByBytesAlone says whether compaction is due only because of the view's size in bytes.
func DueByBytesAlone(p *compactordv1.Policy, r *compactordv1.ContextReport) bool {
	limit := p.GetTrigger().GetMaxViewBytes()
	if limit == 0 || r.GetViewBytes() < limit {
		return false
	}
	other := proto.CloneOf(p)
	other.Trigger.MaxViewBytes = nil
	return !session.Due(other, r)
}

// saturated limits a sum of tokens to the largest uint32.
func saturated(tokens uint64) uint32 { return uint32(min(tokens, math.MaxUint32)) }
