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

// PlannedAt says whether a session's row has the outcome of a plan that holds at the point of a head.
func PlannedAt(row *storagev1.Session, h *storagev1.Head) bool {
	plan := row.GetDuePlan()
	return plan != nil && (plan.GetPoint() == session.Point(h) || stillShrinks(plan, h, row.GetResolvedPolicy()))
}

// growthOfPlan is the share of what a plan frees by which the view can grow before a plan is made anew: a choice of ours.
// Without it each append to a session whose compaction waits, as for the end of a turn, would cost a plan of the view.
const growthOfPlan = 4

// stillShrinks says whether a plan that makes the view smaller surely still does at a head. Messages that are appended let
// a plan cover more, but for what its boundaries need, so far less than what it frees must have come.
func stillShrinks(plan *storagev1.DuePlan, h *storagev1.Head, p *compactordv1.Policy) bool {
	before, now := uint64(plan.GetViewTokens()), uint64(h.GetViewTokens())
	onlyMessages := uint64(session.Point(h))-uint64(plan.GetPoint()) == uint64(h.GetNextIndex())-uint64(plan.GetNextIndex())
	return session.Point(h) > plan.GetPoint() && onlyMessages &&
		now >= before && now-before <= uint64(plan.GetFreedTokens())/growthOfPlan &&
		!DueByBytesAlone(p, session.Measure(h, p))
}

// PlanDue says whether a compaction that is due would make the view smaller, for a session's row. It makes the plan and
// simulates it. A summary counts with its largest size.
func (r *Registry) PlanDue(ctx context.Context, s *session.State, p *compactordv1.Policy) (*storagev1.DuePlan, error) {
	due := &storagev1.DuePlan{
		Point: session.Point(s.Head), NextIndex: s.Head.GetNextIndex(), ViewTokens: s.Head.GetViewTokens(),
	}
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
		return due, err
	}
	if err := Check(in, plan); err != nil {
		return nil, err
	}
	left, err := simulate(ctx, s, plan)
	if err != nil {
		return nil, err
	}
	before, after := viewSize(s), viewSize(left)
	due.ShrinksView = after[by] < before[by]
	if due.GetShrinksView() && by == byTokens {
		due.FreedTokens = uint32(before[by] - after[by])
	}
	return due, nil
}

// summaryTooLarge says whether a cut covers so little that its summary need not be smaller: budgets have a minimum.
func summaryTooLarge(s *session.State, cut *compactordv1.Cut, byBytes bool) bool {
	at, kept := position(s, cut.GetFirstKeptIndex())
	return cut != nil && kept && cut.GetMaxSummaryTokens() >= CoveredTokens(s, at, byBytes)
}
