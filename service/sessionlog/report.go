package sessionlog

import (
	"context"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/strategies"
)

// Report returns the context report of a session.
func Report(row *storagev1.Session) *compactordv1.ContextReport {
	return strategies.ReportAt(row, row.GetHead())
}

// Report returns the context report after the write.
func (w *Write) Report(ctx context.Context) (*compactordv1.ContextReport, error) {
	if err := w.planDue(ctx); err != nil {
		return nil, err
	}
	return Report(w.Row()), nil
}

// planDue plans the policy's strategy where compaction is due and nothing else prevents it, and stores in the row
// whether the plan makes the view smaller, so that a report asks for no compaction that would be skipped. A plan that frees
// much is used again while little is appended, as PlannedAt says.
func (w *Write) planDue(ctx context.Context) error {
	row, h := w.Row(), w.Head()
	if strategies.PlannedAt(row, h) {
		return nil
	}
	row.DuePlan = nil
	if !strategies.ReportPlanned(h, row.GetResolvedPolicy(), true).GetShouldCompact() {
		return nil
	}
	state, err := w.State(ctx)
	if err != nil {
		return err
	}
	due, err := w.logs.strategies.PlanDue(ctx, state, row.GetResolvedPolicy())
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		// The compaction reports the error. Messages are appended also where a strategy fails.
		w.logs.logger.DebugContext(ctx, "the strategy cannot plan", "session", row.GetSessionId(), "error", err)
		return nil
	}
	row.DuePlan = due
	return nil
}
