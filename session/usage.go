package session

import (
	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func advanceUsage(h *storagev1.Head, l *compactordv1.LoggedMessage, viewBefore, pointBefore uint32) {
	u := l.GetMessage().GetUsage()
	reported := ReportedTokens(u)
	if reported == 0 {
		return
	}
	h.Usage = &storagev1.UsageBaseline{Index: l.GetIndex(), ViewPoint: l.GetViewPoint(), Tokens: reported}
	// Overhead can be told only where the report is for exactly the view that was estimated.
	if input := inputTokens(u); input > 0 && l.GetViewPoint() == pointBefore {
		h.LearntOverhead = proto.Uint32(input - min(input, viewBefore))
	}
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
