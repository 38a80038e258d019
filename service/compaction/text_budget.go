package compaction

import (
	"sort"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/wording"
	"github.com/compactord/compactord/strategies"
)

// A cut's budget is for all that a view shows as its summary. The sentences around the text, slots and files are
// subtracted before the text is asked for.

const (
	// factsShare is the largest share of the budget that slots and files have where the text needs the rest, as a divisor.
	factsShare = 4
	// minTextTokens is the smallest budget of a text where the cut's is not smaller, whatever is shown around it: the
	// headings alone can need 90.
	minTextTokens = 128
)

// textBudget returns what is left of the cut's budget for the text of its summary. A summary that the client wrote by
// itself may have all of it, since the plan said so.
func (w *writing) textBudget() uint32 {
	budget := w.plan.GetCut().GetMaxSummaryTokens()
	tags := w.fileTags()
	text := budget - min(budget, w.tokens(tags))
	if w.whole || strategies.BudgetsTextAlone(w.policy) {
		return text
	}
	expected := w.expected(tags != "")
	frame := w.shownTokens(withoutFacts(expected))
	around := frame + min(w.shownTokens(expected)-frame, budget/factsShare)
	return max(min(text, minTextTokens), text-min(text, around))
}

// expected returns the entry of the plan's cut as far as it is known before its text is: with all slots and files that
// its views may show.
func (w *writing) expected(fileTags bool) *compactordv1.CompactionEntry {
	at := w.snapshot.Position(w.plan.GetCut().GetFirstKeptIndex())
	covered, kept := w.snapshot.Kept[:at], w.snapshot.Kept[at:]
	return &compactordv1.CompactionEntry{
		Slots:    slotsOf(w.snapshot, covered, kept),
		Files:    strategies.TouchedFiles(w.snapshot.Entry.GetFiles(), strategies.FileTools(w.policy), covered),
		FileTags: fileTags,
	}
}

// boundFacts bounds the slots and files that views of an entry show, so that they show no more as its summary than the
// cut's budget. Slots and files have their share anyway if the text had more than the rest: one that the client wrote by
// itself, or the smallest one.
func (w *writing) boundFacts(entry *compactordv1.CompactionEntry) {
	if strategies.BudgetsTextAlone(w.policy) {
		return
	}
	budget, bare := w.plan.GetCut().GetMaxSummaryTokens(), withoutFacts(entry)
	limit := max(budget, w.shownTokens(bare)+budget/factsShare)
	if w.shownTokens(entry) <= limit {
		return
	}
	all := len(wording.Summary(entry)) - len(wording.Summary(bare))
	over := func(bytes int) bool {
		entry.MaxFactsBytes = proto.Uint32(uint32(bytes))
		return w.shownTokens(entry) > limit
	}
	entry.MaxFactsBytes = proto.Uint32(uint32(max(0, sort.Search(all, over)-1)))
}

// withoutFacts returns the part of an entry that its summary message shows without slots and files.
func withoutFacts(entry *compactordv1.CompactionEntry) *compactordv1.CompactionEntry {
	return &compactordv1.CompactionEntry{Summary: entry.GetSummary()}
}

// shownTokens returns the size of what a view shows as an entry's summary, in tokens of the model.
func (w *writing) shownTokens(entry *compactordv1.CompactionEntry) uint32 {
	shown := wording.Summary(entry)
	if w.snapshot.Policy.GetSummary().GetPlacement() == compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_PAIR {
		shown += wording.SummaryReply
	}
	return w.tokens(shown)
}

func (w *writing) tokens(text string) uint32 {
	return session.TextTokens(w.snapshot.ModelCounter(), text)
}
