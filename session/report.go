package session

import (
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
		PrunableTokens: Scaled(h, h.GetPrunableTokens()),
		OverheadTokens: overhead(h, p),
		ViewBytes:      h.GetViewBytes(),
		ToolGroups:     h.GetViewToolGroups(),
		MediaTokens:    Scaled(h, h.GetViewMediaTokens()),
		MediaBytes:     h.GetViewMediaBytes(),
		OpenCalls:      Awaited(h)[:min(len(Awaited(h)), maxOpenCalls)],
		OpenCallCount:  uint32(len(Awaited(h))),
	}
	if h.GetEstimator() == compactordv1.Estimator_ESTIMATOR_CALIBRATED {
		r.CalibrationPermille = proto.Uint32(Calibration(h))
	}
	r.Tokens, r.Source, r.ErrorBoundTokens = contextTokens(h, r.GetOverheadTokens())
	if trigger, ok := TriggerTokens(p); ok {
		r.TriggerTokens = &trigger
	}
	r.FixedTokens = fixedTokens(h, p, r.GetOverheadTokens())
	r.PauseEndsAfterTokens = PauseEndsAfter(h, p, p.GetStrategy())
	r.BreakerClosesAfterTokens = BreakerClosesAfter(h)
	r.BlockedBy = blockedBy(h, p, r)
	r.ShouldCompact = Due(p, r) && len(r.GetBlockedBy()) == 0
	return r
}

// fixedTokens is what no compaction can remove: the leading run, what is pinned, what is outside the log, and the smallest
// valid kept part, which an open group belongs to, where the policy's strategy edits nothing of it.
func fixedTokens(h *storagev1.Head, p *compactordv1.Policy, overhead uint32) uint32 {
	fixed := uint64(h.GetLeadTokens()) + uint64(h.GetPinnedTokens()) + uint64(h.GetPinnedKeptTokens())
	if sparesTail(h, p.GetStrategy()) {
		fixed += uint64(h.GetTailTokens())
	} else {
		fixed += uint64(h.GetPinnedTailTokens())
	}
	return plus(Scaled(h, saturate(fixed)), overhead)
}
