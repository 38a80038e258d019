package session

import (
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
