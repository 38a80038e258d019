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
		OpenCalls:      h.GetOpenCalls()[:min(len(h.GetOpenCalls()), maxOpenCalls)],
		OpenCallCount:  uint32(len(h.GetOpenCalls())),
	}
	if h.GetEstimator() == compactordv1.Estimator_ESTIMATOR_CALIBRATED {
		r.CalibrationPermille = proto.Uint32(Calibration(h))
	}
	r.Tokens, r.Source, r.ErrorBoundTokens = contextTokens(h, r.GetOverheadTokens())
	if trigger, ok := TriggerTokens(p); ok {
		r.TriggerTokens = &trigger
	}
	r.FixedTokens = fixedTokens(h, r.GetOverheadTokens())
	r.BreakerClosesAfterTokens = BreakerClosesAfter(h)
	r.BlockedBy = blockedBy(h, p, r)
	r.ShouldCompact = Due(p, r) && len(r.GetBlockedBy()) == 0
	return r
}

// fixedTokens is what no compaction can remove: the leading run, what is pinned, the smallest valid kept part, which an
// open group belongs to, and what is outside the log.
func fixedTokens(h *storagev1.Head, overhead uint32) uint32 {
	var fixed uint64
	for _, tokens := range []uint32{
		h.GetLeadTokens(), h.GetPinnedTokens(), h.GetPinnedKeptTokens(), h.GetTailTokens(),
	} {
		fixed += uint64(tokens)
	}
	return plus(Scaled(h, saturate(fixed)), overhead)
}
