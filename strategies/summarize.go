package strategies

import (
	"context"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// Summarize cuts the conversation and replaces the messages before the cut by a summary.
type Summarize struct{}

// Name returns `summarize`.
func (Summarize) Name() string { return "summarize" }

// Plan returns a plan with a cut, or one that does nothing.
func (Summarize) Plan(
	ctx context.Context, in *Input, parameters *compactordv1.Strategy,
) (*compactordv1.CompactionPlan, error) {
	s, p := in.State, parameters.GetSummarize()
	if in.EditsOnly {
		return noop(in, compactordv1.SkipReason_SKIP_REASON_NO_GAIN), nil
	}
	if alreadyCompacted(s) {
		return noop(in, compactordv1.SkipReason_SKIP_REASON_ALREADY_COMPACTED), nil
	}
	view := divide(s)
	at, maxSummary, err := firstKept(ctx, in, view, p)
	if err != nil {
		return nil, err
	}
	if !takesOut(s, at) {
		return noop(in, compactordv1.SkipReason_SKIP_REASON_NOTHING_TO_COMPACT), nil
	}
	plan := noop(in, compactordv1.SkipReason_SKIP_REASON_UNSPECIFIED)
	plan.Cut = &compactordv1.Cut{
		FirstKeptIndex: s.Kept[at].GetIndex(),
		Summarized: &compactordv1.IndexRange{
			Start: session.KeptFrom(s.Head),
			End:   s.Kept[at].GetIndex(),
		},
		SplitTurnStart: splitTurnStart(s, at, p.GetSplitTurn()),
	}
	plan.SummarizerInputTokens = inputTokens(s, at)
	err = setSummaryBudget(ctx, in, plan.GetCut(), at, view, maxSummaryTokens(in.Policy, p), maxSummary)
	return plan, err
}

// alreadyCompacted says whether no message was appended since the compaction in effect. Other records do not count,
// since they add nothing to summarize. A message that a Revert put aside does not count either.
func alreadyCompacted(s *session.State) bool {
	c := s.Head.GetCompaction()
	if c == nil {
		return false
	}
	n := len(s.Kept)
	return n == 0 || s.Kept[n-1].GetSequence() < c.GetSequence()
}

// takesOut says whether a cut at a position removes anything from the view. Pinned messages stay, and messages that
// repairs leave out are not in the view.
func takesOut(s *session.State, at int) bool {
	for _, l := range s.Kept[:at] {
		if !session.Failed(l.GetMessage()) &&
			l.GetResultPlace() != compactordv1.ResultPlace_RESULT_PLACE_VOID &&
			!session.Pinned(s.Head, l.GetIndex()) {
			return true
		}
	}
	return false
}

// splitTurnStart returns the message that starts the turn which the cut splits, if the turn's first part gets a
// separate summary. A turn whose start is no longer kept is not split again, since its first part is already in the
// summary.
func splitTurnStart(s *session.State, at int, mode compactordv1.SplitTurn) *uint32 {
	if mode == compactordv1.SplitTurn_SPLIT_TURN_JOIN_HEAD {
		return nil
	}
	start := turnStart(s, at)
	if start == at || start < 0 {
		return nil
	}
	return proto.Uint32(s.Kept[start].GetIndex())
}

// inputTokens returns the size of the summarizer's input: the messages before the cut, and the previous summary.
func inputTokens(s *session.State, at int) uint32 {
	var total uint64
	for _, l := range s.Kept[:at] {
		total += uint64(l.GetTokens())
	}
	total += uint64(session.TextTokens(s.Counter, s.Entry.GetSummary()))
	return s.Scaled(saturated(total))
}

// turnStart returns the position of the message that starts the turn of the message at pos, or -1 if it is not kept.
func turnStart(s *session.State, pos int) int {
	for ; pos >= 0; pos-- {
		if session.StartsTurn(s.Kept[pos].GetMessage()) {
			return pos
		}
	}
	return -1
}
