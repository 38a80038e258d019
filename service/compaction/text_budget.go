package compaction

import (
	"context"

	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/strategies"
)

// textBudget returns what is left of the cut's budget for the text of its summary. A summary that the client wrote by
// itself may have all of it, since the plan said so.
func (w *writing) textBudget(ctx context.Context) (uint32, error) {
	cut, tags := w.plan.GetCut(), w.fileTags()
	if !w.whole {
		return strategies.TextBudget(ctx, w.snapshot, w.policy, cut, tags)
	}
	return cut.GetMaxSummaryTokens() - min(cut.GetMaxSummaryTokens(), session.TextTokens(w.snapshot.ModelCounter(), tags)), nil
}
