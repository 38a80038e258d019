package session

import (
	"math"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// maxOpenCalls bounds a report, whatever a client appends.
const maxOpenCalls = 100

// Report says how full the context is.
func Report(h *storagev1.Head, p *compactordv1.Policy) *compactordv1.ContextReport {
	r := &compactordv1.ContextReport{
		ContextWindow:  p.ContextWindow,
		TargetTokens:   triggerOf(p).TargetTokens,
		PrunableTokens: h.GetPrunableTokens(),
		OverheadTokens: overhead(h, p),
		ViewBytes:      h.GetViewBytes(),
		ToolGroups:     h.GetViewToolGroups(),
		OpenCalls:      h.GetOpenCalls()[:min(len(h.GetOpenCalls()), maxOpenCalls)],
		OpenCallCount:  uint32(len(h.GetOpenCalls())),
	}
	r.Tokens, r.Source, r.ErrorBoundTokens = contextTokens(h, r.GetOverheadTokens())
	if trigger, ok := TriggerTokens(p); ok {
		r.TriggerTokens = &trigger
	}
	r.FixedTokens = plus(plus(h.GetLeadTokens(), h.GetPinnedTokens()), plus(h.GetTailTokens(), r.GetOverheadTokens()))
	r.BlockedBy = blockedBy(p, r)
	r.ShouldCompact = Due(p, r) && len(r.GetBlockedBy()) == 0
	return r
}

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

// TriggerTokens is the lowest of the policy's triggers in tokens; false where none holds.
func TriggerTokens(p *compactordv1.Policy) (uint32, bool) {
	t := triggerOf(p)
	lowest := uint32(math.MaxUint32)
	if t.TriggerTokens != nil {
		lowest = t.GetTriggerTokens()
	}
	if window := p.GetContextWindow(); window > 0 {
		if t.TriggerRatio != nil {
			lowest = min(lowest, uint32(math.Ceil(t.GetTriggerRatio()*float64(window)-ratioSlack)))
		}
		if t.ReserveTokens != nil {
			lowest = min(lowest, window-min(window, t.GetReserveTokens()))
		}
	}
	return lowest, lowest != math.MaxUint32
}

// contextTokens trusts the provider's last report unless the view was changed since it was made for.
func contextTokens(h *storagev1.Head, overhead uint32) (uint32, compactordv1.TokenSource, uint32) {
	if u := h.GetUsage(); u != nil && h.GetLastViewChange() <= u.GetViewPoint() {
		return saturate(uint64(u.GetTokens()) + uint64(u.GetTokensAfter())),
			compactordv1.TokenSource_TOKEN_SOURCE_REPORTED, u.GetTokensAfter() / 2
	}
	// Four characters a token is off by a factor of up to 2.7 on logs and base64, and by less than half on prose and
	// code.
	return plus(h.GetViewTokens(), overhead), compactordv1.TokenSource_TOKEN_SOURCE_ESTIMATED, h.GetViewTokens() / 2
}

func overhead(h *storagev1.Head, p *compactordv1.Policy) uint32 {
	if p.OverheadTokens != nil {
		return p.GetOverheadTokens()
	}
	return h.GetLearntOverhead()
}

func blockedBy(p *compactordv1.Policy, r *compactordv1.ContextReport) []compactordv1.BlockedBy {
	t := triggerOf(p)
	if t.Enabled != nil && !t.GetEnabled() {
		return []compactordv1.BlockedBy{compactordv1.BlockedBy_BLOCKED_BY_DISABLED}
	}
	if p.ContextWindow == nil && r.TriggerTokens == nil && t.TriggerToolGroups == nil && t.MaxViewBytes == nil {
		return []compactordv1.BlockedBy{compactordv1.BlockedBy_BLOCKED_BY_WINDOW_UNKNOWN}
	}
	if Due(p, r) && r.TriggerTokens != nil && r.GetFixedTokens() >= r.GetTriggerTokens() {
		return []compactordv1.BlockedBy{compactordv1.BlockedBy_BLOCKED_BY_TARGET_UNREACHABLE}
	}
	return nil
}
