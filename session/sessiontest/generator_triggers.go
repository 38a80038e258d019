package sessiontest

import (
	"slices"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// reason returns a random reason of a compaction: mostly that it was due.
func reason(t *rapid.T) compactordv1.CompactionReason {
	return oneOf(t, "reason", []compactordv1.CompactionReason{
		compactordv1.CompactionReason_COMPACTION_REASON_THRESHOLD,
		compactordv1.CompactionReason_COMPACTION_REASON_THRESHOLD,
		compactordv1.CompactionReason_COMPACTION_REASON_THRESHOLD,
		compactordv1.CompactionReason_COMPACTION_REASON_THRESHOLD,
		compactordv1.CompactionReason_COMPACTION_REASON_OVERFLOW,
		compactordv1.CompactionReason_COMPACTION_REASON_OVERFLOW,
		compactordv1.CompactionReason_COMPACTION_REASON_MANUAL,
		compactordv1.CompactionReason_COMPACTION_REASON_UNSPECIFIED,
	})
}

func automatic(r compactordv1.CompactionReason) bool {
	return r == compactordv1.CompactionReason_COMPACTION_REASON_THRESHOLD ||
		r == compactordv1.CompactionReason_COMPACTION_REASON_OVERFLOW
}

// window returns a context window that the logs of a test can fill, or none.
func window(t *rapid.T) *uint32 {
	if chance(t, 25, "window unknown") {
		return nil
	}
	return proto.Uint32(uint32(between(t, 1, 400, "window")))
}

// inputLimit returns mostly nil, since most models have no input limit of their own.
func inputLimit(t *rapid.T) *uint32 {
	if chance(t, 80, "input limit unknown") {
		return nil
	}
	return proto.Uint32(uint32(between(t, 1, 400, "input limit")))
}

// trigger returns some of the triggers, or none.
func trigger(t *rapid.T) *compactordv1.Trigger {
	if chance(t, 10, "no trigger") {
		return nil
	}
	tr := &compactordv1.Trigger{}
	if chance(t, 30, "by tokens") {
		tr.TriggerTokens = proto.Uint32(uint32(between(t, 1, 300, "trigger tokens")))
	}
	if chance(t, 20, "by conversation") {
		tr.TriggerConversationTokens = proto.Uint32(uint32(between(t, 1, 300, "conversation tokens")))
	}
	if chance(t, 50, "by ratio") {
		tr.TriggerRatio = proto.Float64(float64(between(t, 1, 20, "ratio")) / 20)
	}
	if chance(t, 50, "by reserve") {
		tr.ReserveTokens = proto.Uint32(uint32(between(t, 0, 100, "reserve")))
	}
	if chance(t, 15, "by groups") {
		tr.TriggerToolGroups = proto.Uint32(uint32(between(t, 1, 5, "groups")))
	}
	if chance(t, 15, "by bytes") {
		tr.MaxViewBytes = proto.Uint32(uint32(between(t, 1, 2000, "bytes")))
	}
	if chance(t, 20, "enabled said") {
		tr.Enabled = proto.Bool(chance(t, 50, "enabled"))
	}
	return tr
}

// strategy returns a strategy that only cuts, one that also hides, or none.
func strategy(t *rapid.T) *compactordv1.Strategy {
	if !chance(t, 50, "cuts") {
		return nil
	}
	cut := &compactordv1.Strategy{Kind: &compactordv1.Strategy_Summarize{Summarize: &compactordv1.SummarizeStrategy{}}}
	if !chance(t, 40, "hides") {
		return cut
	}
	hide := &compactordv1.HideToolResultsStrategy{KeepGroups: proto.Uint32(uint32(between(t, 0, 3, "groups")))}
	if chance(t, 50, "waits") {
		hide.MinimumTokens = proto.Uint32(uint32(between(t, 1, 200, "minimum")))
	}
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_Ladder{Ladder: &compactordv1.LadderStrategy{
		Rungs: []*compactordv1.LadderStrategy_Rung{
			{Strategy: &compactordv1.Strategy{Kind: &compactordv1.Strategy_HideToolResults{HideToolResults: hide}}},
			{Strategy: cut},
		},
	}}}
}

// CountHead counts the classes that the head of the newest point shows.
func (g *Generator) CountHead() {
	h := g.head()
	closesAfter := session.BreakerClosesAfter(h)
	g.count(BreakerOpen, closesAfter > 0)
	g.count(BreakerClosed, h.GetBreaker().GetSpanTokens() > 0 && closesAfter == 0)
	g.count(CalibrationLearnt, h.GetCalibration().GetSamples() > 0)
	g.count(PinnedInPlace, h.GetPinnedKeptTokens() > 0)
	g.count(BlockMoved, h.GetLastBlockMove() == session.Point(h))
	g.count(BlockExpired, h.GetLastBlockExpiry() == session.Point(h) && h.GetLastBlockExpiry() > 0)
}

// CountReport counts the classes that a report of the newest point shows.
func (g *Generator) CountReport(r *compactordv1.ContextReport) {
	blocked := func(by compactordv1.BlockedBy) bool { return slices.Contains(r.GetBlockedBy(), by) }
	g.count(DueNow, r.GetShouldCompact())
	g.count(BreakerBlocks, blocked(compactordv1.BlockedBy_BLOCKED_BY_BREAKER_OPEN) && len(r.GetBlockedBy()) == 1)
	g.count(TargetUnreachable, blocked(compactordv1.BlockedBy_BLOCKED_BY_TARGET_UNREACHABLE))
	reachable := r.TriggerTokens == nil || min(r.GetTokens(), r.GetFixedTokens()) < r.GetTriggerTokens()
	g.count(NothingToCut, blocked(compactordv1.BlockedBy_BLOCKED_BY_TARGET_UNREACHABLE) && reachable)
	g.count(TriggerDisabled, blocked(compactordv1.BlockedBy_BLOCKED_BY_DISABLED) && g.Model().Due())
}
