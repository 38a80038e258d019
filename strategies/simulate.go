package strategies

import (
	"context"
	"strings"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// simulate returns the state that a plan would leave. A text that the summarizer will write counts as long as the plan
// allows, so that the real view is not larger.
func simulate(
	ctx context.Context, s *session.State, plan *compactordv1.CompactionPlan,
) (*session.State, error) {
	var err error
	byBytes := DueByBytesAlone(s.Policy, session.Measure(s.Head, s.Policy))
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
	entry, err := entryWithout(ctx, s, s.Policy, at)
	if err != nil {
		return nil, err
	}
	setLargestSummary(s, entry, cut.GetMaxSummaryTokens(), CoveredTokens(s, at, byBytes))
	return after(s, &compactordv1.Record{Kind: &compactordv1.Record_Compaction{Compaction: entry}})
}

// setLargestSummary sets a dummy text with which views show as much as the budget allows of a text that must be smaller
// than what it replaces. Slots and files are cut at whole entries, so that with a shorter text they can have more: where
// they do not all fit, the text has the rest, too.
func setLargestSummary(s *session.State, entry *compactordv1.CompactionEntry, budget, replaced uint32) {
	text := min(aroundText(s, s.Policy, entry).text(budget, 0), replaced)
	entry.Summary = textOf(s.Counter, s.Stored(text))
	BoundFacts(s, s.Policy, entry, budget)
	if entry.MaxFactsBytes == nil {
		return
	}
	shown, limit := shownTokens(s, entry), limitOfFacts(s, entry, budget)
	entry.Summary = textOf(s.Counter, s.Stored(text+limit-min(limit, shown)))
}

// after returns the state after a record.
func after(s *session.State, r *compactordv1.Record) (*session.State, error) {
	written, err := session.Write(s, r, nil, nil)
	if err != nil {
		return nil, err
	}
	return written.State, nil
}

// expected returns an edit with its text. If the summarizer will write it, the text is a dummy of the expected length.
func expected(s *session.State, e *compactordv1.Edit) *compactordv1.Edit {
	if !e.GetBySummarizer() {
		return e
	}
	var tokens uint32
	if e.GetKind() == compactordv1.EditKind_EDIT_KIND_FOLD {
		tokens = FoldTextBudget(s, e)
	} else if at, kept := position(s, e.GetIndex()); kept {
		tokens = s.Kept[at].GetTokens() - min(s.Kept[at].GetTokens(), e.GetTokensFreed())
	}
	written := proto.CloneOf(e)
	written.Replacement, written.BySummarizer = textOf(s.Counter, tokens), false
	return written
}

// textOf returns a dummy text of at least this many tokens, and at most a word more.
func textOf(c session.Counter, tokens uint32) string {
	const word, sample = " text", 1000
	each := max(1, session.TextTokens(c, strings.Repeat(word, sample)))
	return strings.Repeat(word, int((uint64(tokens)*sample+uint64(each)-1)/uint64(each)))
}
