package strategies

import (
	"slices"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// forecast returns the state as a plan would leave it. What a summarizer has yet to write is as long as the plan lets it
// be, so that no view turns out larger.
func forecast(s *session.State, plan *compactordv1.CompactionPlan) (*session.State, error) {
	var err error
	if edits := plan.GetEdits(); len(edits) > 0 {
		entry := &compactordv1.PruneEntry{Edits: make([]*compactordv1.Edit, len(edits))}
		for i, e := range edits {
			entry.Edits[i] = expected(s, e)
		}
		if s, err = after(s, &compactordv1.Record{Kind: &compactordv1.Record_Prune{Prune: entry}}); err != nil {
			return nil, err
		}
	}
	cut := plan.GetCut()
	if cut == nil {
		return s, nil
	}
	at, _ := position(s, cut.GetFirstKeptIndex())
	tokens := min(cut.GetMaxSummaryTokens(), inputTokens(s, at))
	return after(s, &compactordv1.Record{Kind: &compactordv1.Record_Compaction{Compaction: &compactordv1.CompactionEntry{
		FirstKeptIndex: cut.GetFirstKeptIndex(),
		Summary:        textOf(s.Counter, s.Stored(tokens)),
	}}})
}

// after is the state after a record.
func after(s *session.State, r *compactordv1.Record) (*session.State, error) {
	written, err := session.Write(s, r, nil, nil)
	if err != nil {
		return nil, err
	}
	return written.State, nil
}

// expected is an edit whose text is there: that of one which the summarizer has yet to write is made up.
func expected(s *session.State, e *compactordv1.Edit) *compactordv1.Edit {
	if !e.GetBySummarizer() {
		return e
	}
	var tokens uint32
	if at, kept := position(s, e.GetIndex()); kept {
		tokens = s.Kept[at].GetTokens() - min(s.Kept[at].GetTokens(), e.GetTokensFreed())
	}
	return &compactordv1.Edit{
		Index: e.GetIndex(), Part: e.GetPart(), Kind: e.GetKind(), Replacement: textOf(s.Counter, tokens),
	}
}

// textOf returns a text of about so many tokens.
func textOf(c session.Counter, tokens uint32) string {
	const word, sample = " text", 1000
	each := max(1, session.TextTokens(c, strings.Repeat(word, sample)))
	return strings.Repeat(word, int(uint64(tokens)*sample/uint64(each)))
}

// together is what two plans do, the second of which was made on the forecast of the first. s is the state that the first
// was made on.
func together(s *session.State, first, second *compactordv1.CompactionPlan) *compactordv1.CompactionPlan {
	all := &compactordv1.CompactionPlan{
		TokensBefore: first.GetTokensBefore(),
		Edits:        overlaid(s, first.GetEdits(), second.GetEdits()),
		Cut:          first.GetCut(),
	}
	if cut := second.GetCut(); cut != nil {
		all.Cut = &compactordv1.Cut{
			FirstKeptIndex: cut.GetFirstKeptIndex(),
			Summarized: &compactordv1.IndexRange{
				Start: session.KeptFrom(s.Head), End: cut.GetFirstKeptIndex(),
			},
			SplitTurnStart: cut.SplitTurnStart, MaxSummaryTokens: cut.GetMaxSummaryTokens(),
		}
	}
	if all.GetCut() == nil {
		return all
	}
	// What the cut covers needs no edit: the summarizer reads it as the log has it.
	all.Edits = slices.DeleteFunc(all.GetEdits(), func(e *compactordv1.Edit) bool {
		return e.GetIndex() < all.GetCut().GetFirstKeptIndex()
	})
	at, _ := position(s, all.GetCut().GetFirstKeptIndex())
	all.SummarizerInputTokens = inputTokens(s, at)
	return all
}

// does says whether a plan does anything.
func does(plan *compactordv1.CompactionPlan) bool {
	return plan.GetCut() != nil || len(plan.GetEdits()) > 0
}
