package session

import (
	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func advanceUsage(
	h *storagev1.Head, p *compactordv1.Policy, l *compactordv1.LoggedMessage, viewBefore, pointBefore uint32,
) {
	u := l.GetMessage().GetUsage()
	reported := ReportedTokens(u)
	if reported == 0 {
		return
	}
	// The provider counted the extra blocks of that view, which later views lack.
	extra := l.GetExtraTokens()
	h.Usage = &storagev1.UsageBaseline{
		Index: l.GetIndex(), ViewPoint: l.GetViewPoint(), Tokens: reported - min(reported, Scaled(h, extra)),
	}
	// The calibration factor and the overhead can be computed only from a report for exactly the view that was
	// estimated.
	if input := inputTokens(u); input > 0 && l.GetViewPoint() == pointBefore {
		seen := plus(viewBefore, extra)
		calibrate(h, p, input, seen, pointBefore)
		learnOverhead(h, input, seen)
	}
}

// learnOverhead computes the overhead from the report for the smallest view: the reported tokens above its estimate.
// The error of an estimate grows with the view, and the overhead does not. Counted as overhead, that error would be
// part of the fixed tokens after a compaction.
func learnOverhead(h *storagev1.Head, input, estimate uint32) {
	if h.LearntOverhead == nil || estimate <= h.GetLearntFrom() {
		h.LearntFrom, h.LearntInput = estimate, input
	}
	// The report may have changed the calibration factor.
	h.LearntOverhead = proto.Uint32(h.GetLearntInput() - min(h.GetLearntInput(), Scaled(h, h.GetLearntFrom())))
}

// contextTokens returns the tokens of the context, their source and the error bound. It uses the provider's last
// report, unless the view has changed since the one that the report was for.
func contextTokens(h *storagev1.Head, overhead uint32) (uint32, compactordv1.TokenSource, uint32) {
	if u := h.GetUsage(); u != nil && lastContentChange(h) <= u.GetViewPoint() {
		return plus(u.GetTokens(), Scaled(h, u.GetTokensAfter())), compactordv1.TokenSource_TOKEN_SOURCE_REPORTED,
			ErrorBound(h, u.GetTokensAfter(), u.GetMessagesAfter(), u.GetMediaTokensAfter())
	}
	return plus(Scaled(h, h.GetViewTokens()), overhead), EstimateSource(h.GetEstimator()),
		ErrorBound(h, h.GetViewTokens(), h.GetViewMessages(), h.GetViewMediaTokens())
}

// lastContentChange returns the sequence of the newest change of what a view shows, apart from appends and from the
// places of its messages; 0 where there is none.
func lastContentChange(h *storagev1.Head) uint32 {
	return max(h.GetLastViewChange(), h.GetLastBlockExpiry())
}

// EstimateSource returns the source of a figure that no provider reported.
func EstimateSource(e compactordv1.Estimator) compactordv1.TokenSource {
	switch {
	case Exact(e):
		return compactordv1.TokenSource_TOKEN_SOURCE_EXACT
	case e == compactordv1.Estimator_ESTIMATOR_CALIBRATED:
		return compactordv1.TokenSource_TOKEN_SOURCE_CALIBRATED
	default:
		return compactordv1.TokenSource_TOKEN_SOURCE_ESTIMATED
	}
}

const (
	// messageTokens is what providers add to each message: for OpenAI three tokens and the role; others do not say.
	messageTokens = 4
	// minErrorPermille is the lowest error assumed: one report without an error says little about the next one.
	minErrorPermille = 50
)

// ErrorBound returns how far an estimate may be off either way, in tokens of the model. stored is the sum of counts,
// messages the number of messages counted, and media the part of stored that is media.
//
// Four characters a token is off by a factor of up to 2.7 on logs and base64 (1.5 to 2.3 bytes a token were measured),
// and by less than half on prose and code. A vocabulary does not count what providers add between messages, and media
// are only estimated, so their whole count is the bound. A calibrated estimate has the error of its last report.
func ErrorBound(h *storagev1.Head, stored, messages, media uint32) uint32 {
	switch {
	case Exact(h.GetEstimator()):
		return saturate(uint64(messages)*messageTokens + uint64(media))
	case h.GetCalibration().GetSamples() > 0:
		off := max(h.GetCalibration().GetErrorPermille(), minErrorPermille)
		return saturate(uint64(Scaled(h, stored)) * uint64(off) / factorOne)
	default:
		return Scaled(h, stored) / 2
	}
}

func overhead(h *storagev1.Head, p *compactordv1.Policy) uint32 {
	if p.OverheadTokens != nil {
		return p.GetOverheadTokens()
	}
	return h.GetLearntOverhead()
}

// ReportedTokens returns the context that a usage reports: the total, or the sum where there is no total. 0 means no
// report.
func ReportedTokens(u *compactordv1.Usage) uint32 {
	if u.GetTotalTokens() > 0 {
		return u.GetTotalTokens()
	}
	return saturate(inputSum(u) + uint64(u.GetOutputTokens()))
}

// AddUsage adds the usage of two requests; nil stands for a request without a report. A total replaces the sum of the
// other figures. So where one usage has a total, the other counts with its sum.
func AddUsage(a, b *compactordv1.Usage) *compactordv1.Usage {
	if a == nil && b == nil {
		return nil
	}
	sum := &compactordv1.Usage{
		InputTokens:      plus(a.GetInputTokens(), b.GetInputTokens()),
		OutputTokens:     plus(a.GetOutputTokens(), b.GetOutputTokens()),
		CacheReadTokens:  plus(a.GetCacheReadTokens(), b.GetCacheReadTokens()),
		CacheWriteTokens: plus(a.GetCacheWriteTokens(), b.GetCacheWriteTokens()),
	}
	if a.GetTotalTokens() > 0 || b.GetTotalTokens() > 0 {
		sum.TotalTokens = plus(ReportedTokens(a), ReportedTokens(b))
	}
	return sum
}

func inputTokens(u *compactordv1.Usage) uint32 {
	return saturate(inputSum(u))
}

func inputSum(u *compactordv1.Usage) uint64 {
	return uint64(u.GetInputTokens()) + uint64(u.GetCacheReadTokens()) + uint64(u.GetCacheWriteTokens())
}
