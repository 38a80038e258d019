package strategies

import (
	"context"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// ReportAt returns the context report of a session with the figures of a head: its own, or one of an earlier point.
func ReportAt(row *storagev1.Session, h *storagev1.Head) *compactordv1.ContextReport {
	if PlannedAt(row, h) {
		return ReportPlanned(h, row.GetResolvedPolicy(), row.GetDuePlan().GetShrinksView())
	}
	return Report(h, row.GetResolvedPolicy())
}

// PlannedAt says whether a session's row has the outcome of a plan at the point of a head.
func PlannedAt(row *storagev1.Session, h *storagev1.Head) bool {
	return row.GetDuePlan() != nil && row.GetDuePlan().GetPoint() == session.Point(h)
}

// ShrinksView says whether a compaction that is due would make the view smaller. It makes the plan and simulates it. A
// summary counts with its largest size.
func (r *Registry) ShrinksView(ctx context.Context, s *session.State, p *compactordv1.Policy) (bool, error) {
	in := &Input{State: s, Policy: p, Reason: compactordv1.CompactionReason_COMPACTION_REASON_THRESHOLD}
	by := byTokens
	if DueByBytesAlone(p, session.Measure(s.Head, p)) {
		by = byBytes
	}
	plan, err := r.Plan(ctx, in, p.GetStrategy())
	if err == nil && summaryTooLarge(s, plan.GetCut(), by == byBytes) {
		in.EditsOnly = true
		plan, err = r.Plan(ctx, in, p.GetStrategy())
	}
	if err != nil || !does(plan) {
		return false, err
	}
	if err := Check(in, plan); err != nil {
		return false, err
	}
	left, err := simulate(ctx, s, plan)
	if err != nil {
		return false, err
	}
	return viewSize(left)[by] < viewSize(s)[by], nil
}

// summaryTooLarge says whether a cut covers so little that its summary need not be smaller: budgets have a minimum.
func summaryTooLarge(s *session.State, cut *compactordv1.Cut, byBytes bool) bool {
	at, kept := position(s, cut.GetFirstKeptIndex())
	return cut != nil && kept && cut.GetMaxSummaryTokens() >= CoveredTokens(s, at, byBytes)
}
