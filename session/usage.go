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
	h.Usage = &storagev1.UsageBaseline{Index: l.GetIndex(), ViewPoint: l.GetViewPoint(), Tokens: reported}
	// Factor and overhead can be told only where the report is for exactly the view that was estimated.
	if input := inputTokens(u); input > 0 && l.GetViewPoint() == pointBefore {
		calibrate(h, p, input, viewBefore, pointBefore)
		learnOverhead(h, input, viewBefore)
	}
}

// learnOverhead takes what the report for the smallest view said beyond its estimate: the error of an estimate grows with
// the view, and what is outside the log does not. Taken for overhead, that error would count right after a compaction as
// what no compaction can remove.
func learnOverhead(h *storagev1.Head, input, estimate uint32) {
	if h.LearntOverhead == nil || estimate <= h.GetLearntFrom() {
		h.LearntFrom, h.LearntInput = estimate, input
	}
	// The report may have moved the factor.
	h.LearntOverhead = proto.Uint32(h.GetLearntInput() - min(h.GetLearntInput(), Scaled(h, h.GetLearntFrom())))
}

// contextTokens trusts the provider's last report unless the view was changed since it was made for.
func contextTokens(h *storagev1.Head, overhead uint32) (uint32, compactordv1.TokenSource, uint32) {
	if u := h.GetUsage(); u != nil && h.GetLastViewChange() <= u.GetViewPoint() {
		return plus(u.GetTokens(), Scaled(h, u.GetTokensAfter())), compactordv1.TokenSource_TOKEN_SOURCE_REPORTED,
			ErrorBound(h, u.GetTokensAfter(), u.GetMessagesAfter(), u.GetMediaTokensAfter())
	}
	return plus(Scaled(h, h.GetViewTokens()), overhead), EstimateSource(h.GetEstimator()),
		ErrorBound(h, h.GetViewTokens(), h.GetViewMessages(), h.GetViewMediaTokens())
}

// EstimateSource is where a figure comes from that no provider reported.
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
	// messageTokens is what providers put around a message: OpenAI says three and the role, others do not say.
	messageTokens = 4
	// leastErrorPermille: that one report met the estimate to the token says little of the next.
	leastErrorPermille = 50
)

// ErrorBound is how far an estimate may be off either way, in tokens of the model. stored is the sum of counts, messages
// how many they are of, and media the part of it that is media.
//
// Four characters a token is off by a factor of up to 2.7 on logs and base64 (1.5 to 2.3 bytes a token were measured), and
// by less than half on prose and code. A vocabulary is off by what stands between the messages, and media by all that they
// count. What a session has learnt is off by as much as at its last report.
func ErrorBound(h *storagev1.Head, stored, messages, media uint32) uint32 {
	switch {
	case Exact(h.GetEstimator()):
		return saturate(uint64(messages)*messageTokens + uint64(media))
	case h.GetCalibration().GetSamples() > 0:
		off := max(h.GetCalibration().GetErrorPermille(), leastErrorPermille)
		return saturate(uint64(Scaled(h, stored)) * uint64(off) / exactly)
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

// ReportedTokens is the context that a usage reports: the total, else the sum. 0 counts as no report.
func ReportedTokens(u *compactordv1.Usage) uint32 {
	if u.GetTotalTokens() > 0 {
		return u.GetTotalTokens()
	}
	return saturate(inputSum(u) + uint64(u.GetOutputTokens()))
}

// AddUsage adds up what two requests took; nil is of one that told nothing. A total wins over the sum of the other figures,
// so where one has a total, the other counts with its sum.
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
