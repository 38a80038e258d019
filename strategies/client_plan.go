package strategies

import (
	"context"
	"math"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// OfClient returns the plan for a client's own plan. It adds what the client does not decide: where the cut's turn is
// split, the summary's budget, and what each edit frees. The error is that of Check.
func OfClient(
	ctx context.Context, in *Input, own *compactordv1.ClientPlan,
) (_ *compactordv1.CompactionPlan, err error) {
	s := in.State
	plan := noop(in, compactordv1.SkipReason_SKIP_REASON_UNSPECIFIED)
	if own.FirstKeptIndex != nil {
		if plan.Cut, err = clientCut(ctx, in, own.GetFirstKeptIndex()); err != nil {
			return nil, err
		}
	}
	for _, e := range own.GetEdits() {
		plan.Edits = append(plan.Edits, clientEdit(s, e))
	}
	if err := Check(in, plan); err != nil {
		return nil, err
	}
	// All edits are valid; Fitting fills in what each frees.
	plan.Edits = Fitting(s, plan.GetEdits(), plan.GetCut())
	if plan.GetCut() != nil {
		at, _ := position(s, plan.GetCut().GetFirstKeptIndex())
		plan.SummarizerInputTokens = inputTokens(s, at)
	}
	return plan, nil
}

// clientCut returns the cut before a message. It may be invalid.
func clientCut(ctx context.Context, in *Input, first uint32) (*compactordv1.Cut, error) {
	s := in.State
	cut := &compactordv1.Cut{
		FirstKeptIndex:   first,
		Summarized:       &compactordv1.IndexRange{Start: session.KeptFrom(s.Head), End: first},
		MaxSummaryTokens: SummaryBudget(in.Policy),
	}
	at, kept := position(s, first)
	if !kept {
		return cut, nil
	}
	cut.SplitTurnStart = splitTurnStart(s, at, compactordv1.SplitTurn_SPLIT_TURN_SUMMARY)
	return cut, setSummaryBudget(ctx, in, cut, at, divide(s), SummaryBudget(in.Policy), math.MaxUint32)
}

// clientEdit returns an edit of the client. What the summarizer is to write gets the same budget as in our own strategies.
// What other edits free is filled in after the check.
func clientEdit(s *session.State, e *compactordv1.Edit) *compactordv1.Edit {
	at, kept := position(s, e.GetIndex())
	if !e.GetBySummarizer() || !kept {
		return e
	}
	e = proto.CloneOf(e)
	if e.GetKind() == compactordv1.EditKind_EDIT_KIND_FOLD {
		e.TokensFreed = 0
		held := FoldTextBudget(s, e)
		e.TokensFreed = held - min(held, foldBudget(s, held))
		return e
	}
	tokens := s.Kept[at].GetTokens()
	e.TokensFreed = tokens - min(tokens, compressedBudget(tokens, math.MaxUint32))
	return e
}
