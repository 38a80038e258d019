package strategies

import (
	"context"
	"math"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// Summarize cuts the conversation and replaces what lies before the cut by a summary.
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
	setBudget(in, plan.GetCut(), at, view, maxSummaryTokens(in.Policy, p), maxSummary)
	plan.SummarizerInputTokens = inputTokens(s, at)
	return plan, nil
}

// alreadyCompacted says whether nothing was appended since the compaction in effect. Only messages count: a record
// brings nothing to summarize, and a message that a Revert put aside is as if it had never come.
func alreadyCompacted(s *session.State) bool {
	c := s.Head.GetCompaction()
	if c == nil {
		return false
	}
	n := len(s.Kept)
	return n == 0 || s.Kept[n-1].GetSequence() < c.GetSequence()
}

// takesOut says whether a cut at a position takes anything out of the view: pinned messages stay, and what repairs leave out
// is not in it.
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

// splitTurnStart returns the message that starts the turn which the cut splits, where its first part is to get a
// summary of its own. A turn whose start is no longer kept is not split again: its first part is in the summary already.
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

// inputTokens is what the summarizer is sent: what lies before the cut, and the summary so far.
func inputTokens(s *session.State, at int) uint32 {
	var total uint64
	for _, l := range s.Kept[:at] {
		total += uint64(l.GetTokens())
	}
	total += uint64(session.TextTokens(s.Counter, s.Entry.GetSummary()))
	return s.Scaled(uint32(min(total, math.MaxUint32)))
}

// turnStart returns the position of the message that starts the turn of the one at pos: -1 where none is kept.
func turnStart(s *session.State, pos int) int {
	for ; pos >= 0; pos-- {
		if session.StartsTurn(s.Kept[pos].GetMessage()) {
			return pos
		}
	}
	return -1
}
