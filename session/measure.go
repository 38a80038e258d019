package session

import (
	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// maxOpenCalls is the most open calls that a report lists.
const maxOpenCalls = 100

// Measure returns a report of how full the context is and at how many tokens compaction is due. It does not set what
// depends on the policy's strategy: whether to compact, what prevents it, and the fixed tokens.
func Measure(h *storagev1.Head, p *compactordv1.Policy) *compactordv1.ContextReport {
	r := &compactordv1.ContextReport{
		ContextWindow:  p.ContextWindow,
		TargetTokens:   triggerOf(p).TargetTokens,
		PrunableTokens: Scaled(h, h.GetPrunableTokens()),
		OverheadTokens: overhead(h, p),
		ViewBytes:      h.GetViewBytes(),
		ToolGroups:     h.GetViewToolGroups(),
		MediaTokens:    Scaled(h, h.GetViewMediaTokens()),
		MediaBytes:     h.GetViewMediaBytes(),

		ContextBlockTokens: Scaled(h, h.GetBlockTokens()),
		OpenCalls:          Awaited(h)[:min(len(Awaited(h)), maxOpenCalls)],
		OpenCallCount:      uint32(len(Awaited(h))),
	}
	if h.GetEstimator() == compactordv1.Estimator_ESTIMATOR_CALIBRATED {
		r.CalibrationPermille = proto.Uint32(Calibration(h))
	}
	r.Tokens, r.Source, r.ErrorBoundTokens = contextTokens(h, r.GetOverheadTokens())
	if trigger, ok := TriggerTokensIn(h, p); ok {
		r.TriggerTokens = &trigger
	}
	r.BreakerClosesAfterTokens = BreakerClosesAfter(h)
	return r
}
