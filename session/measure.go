package session

import (
	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// maxOpenCalls bounds a report, whatever a client appends.
const maxOpenCalls = 100

// Measure is the part of a report that says how full the context is, and at how many tokens compaction is due. What the
// policy's strategy makes of it is not there: whether to compact, what stands in the way, and what it cannot remove.
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
	r.BreakerClosesAfterTokens = BreakerClosesAfter(h)
	return r
}
