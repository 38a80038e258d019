package strategies

import (
	"context"
	"sort"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/wording"
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

// BudgetsTextAlone says whether the policy's budget of a summary is for its text alone, as in the systems that some
// presets reproduce. Otherwise it also covers what views show around the text.
func BudgetsTextAlone(policy *compactordv1.Policy) bool {
	return policy.GetPreset() == piName || policy.GetPreset() == klaudeName
}

// TextBudget returns what is left of a cut's budget for the text of its summary. tags are the file tags at its end; they
// are empty where views list the files outside the text.
func TextBudget(
	ctx context.Context, s *session.State, policy *compactordv1.Policy, cut *compactordv1.Cut, tags string,
) (uint32, error) {
	entry, err := entryWithout(ctx, s, policy, s.Position(cut.GetFirstKeptIndex()))
	if err != nil {
		return 0, err
	}
	entry.FileTags = tags != ""
	return aroundText(s, policy, entry).text(cut.GetMaxSummaryTokens(), session.TextTokens(s.ModelCounter(), tags)), nil
}

// BoundFacts bounds the slots and files that views of an entry show, so that they show no more as its summary than the
// cut's budget. Slots and files have their share anyway if the text had more than the rest: one that the client wrote by
// itself, or the smallest one.
func BoundFacts(s *session.State, policy *compactordv1.Policy, entry *compactordv1.CompactionEntry, budget uint32) {
	if BudgetsTextAlone(policy) {
		return
	}
	limit := limitOfFacts(s, entry, budget)
	if shownTokens(s, entry) <= limit {
		return
	}
	all := len(wording.Summary(entry)) - len(wording.Summary(withoutFacts(entry)))
	over := func(bytes int) bool {
		entry.MaxFactsBytes = proto.Uint32(uint32(bytes))
		return shownTokens(s, entry) > limit
	}
	entry.MaxFactsBytes = proto.Uint32(uint32(max(0, sort.Search(all, over)-1)))
}

// limitOfFacts returns the most tokens that views may show as the summary of an entry with slots and files.
func limitOfFacts(s *session.State, entry *compactordv1.CompactionEntry, budget uint32) uint32 {
	return max(budget, shownTokens(s, withoutFacts(entry))+budget/factsShare)
}

// around is the size of what views show around the text of a summary, in tokens of the model.
type around struct {
	// frame is the size of the sentences, facts that of all slots and files.
	frame, facts uint32
	// textAlone says that the budget is for the text alone.
	textAlone bool
	// tags says that the text can end in tags, which have up to half of the budget.
	tags bool
}

// aroundText returns what views show around the text of an entry.
func aroundText(s *session.State, policy *compactordv1.Policy, entry *compactordv1.CompactionEntry) around {
	frame := shownTokens(s, withoutFacts(entry))
	return around{
		frame: frame, facts: shownTokens(s, entry) - frame,
		textAlone: BudgetsTextAlone(policy), tags: policy.GetSummary().GetFileTags(),
	}
}

// text returns what is left of a budget for the text before tags of this size.
func (a around) text(budget, tags uint32) uint32 {
	text := budget - min(budget, tags)
	if a.textAlone {
		return text
	}
	return max(min(text, minTextTokens), text-min(text, a.frame+min(a.facts, budget/factsShare)))
}

// most returns the most tokens that views show as the summary.
func (a around) most(budget uint32) uint64 {
	if a.textAlone {
		return uint64(budget) + uint64(a.frame) + uint64(a.facts)
	}
	least := uint64(minTextTokens)
	if a.tags {
		least += uint64(budget / 2)
	}
	return max(uint64(budget), min(uint64(budget), least)+uint64(a.frame)+uint64(min(a.facts, budget/factsShare)))
}

// within returns the largest budget up to a limit with which views show less than the limit as the summary.
func (a around) within(limit uint32) uint32 {
	return uint32(max(0, sort.Search(int(limit), func(budget int) bool { return a.most(uint32(budget)) >= uint64(limit) })-1))
}

// entryWithout returns the entry of a cut at a position without its summary: all else that views show in the place of
// the covered messages.
func entryWithout(
	ctx context.Context, s *session.State, policy *compactordv1.Policy, at int,
) (*compactordv1.CompactionEntry, error) {
	covered, kept := s.Kept[:at], s.Kept[at:]
	slots, err := SlotsAfter(ctx, s, covered, kept, nil)
	if err != nil {
		return nil, err
	}
	return &compactordv1.CompactionEntry{
		FirstKeptIndex: kept[0].GetIndex(),
		Slots:          slots,
		Files:          FilesAfter(s, FileTools(policy), covered),
	}, nil
}

// withoutFacts returns the part of an entry that its summary message shows without slots and files.
func withoutFacts(entry *compactordv1.CompactionEntry) *compactordv1.CompactionEntry {
	return &compactordv1.CompactionEntry{Summary: entry.GetSummary()}
}

// shownTokens returns the size of what a view shows as an entry's summary, in tokens of the model.
func shownTokens(s *session.State, entry *compactordv1.CompactionEntry) uint32 {
	shown := wording.Summary(entry)
	switch s.Policy.GetSummary().GetPlacement() {
	case compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_PAIR:
		shown += wording.SummaryReply
	case compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_SYSTEM:
		shown = wording.OperatorsSummary(entry)
	default:
	}
	return session.TextTokens(s.ModelCounter(), shown)
}
