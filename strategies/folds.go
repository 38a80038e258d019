package strategies

import (
	"slices"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/wording"
)

// A fold is made of one edit for each message of its range. They stand in a plan one after the other, in the order of the
// log. All have the range, and the first one has the rest: the text or by_summarizer, and what the fold frees.

// PlanFold returns the plan that folds messages into one text: the given one or, if that is empty, one that the summarizer
// writes. start and end are those of FoldRange; end may be nil. The error is ErrInvalidPlan if the range cannot be folded.
func PlanFold(in *Input, start uint32, end *uint32, text string) (*compactordv1.CompactionPlan, error) {
	r, err := foldRangeOf(in.State, start, end)
	if err != nil {
		return nil, err
	}
	if r.empty() {
		return noop(in, compactordv1.SkipReason_SKIP_REASON_NOTHING_TO_COMPACT), nil
	}
	if err := checkFold(in.State, r); err != nil {
		return nil, err
	}
	e := newEditing(in.State)
	if !e.tryFold(r, text) {
		return noop(in, compactordv1.SkipReason_SKIP_REASON_NO_GAIN), nil
	}
	return e.plan(in), nil
}

// tryFold adds a fold of a valid range if it makes the view smaller. A text that the summarizer writes counts as long as
// it may be.
func (e *editing) tryFold(r foldRange, text string) bool {
	s := e.simulation.state
	edits := r.edits(s)
	if text != "" {
		edits[0].Replacement = wording.Fold(edits[0].GetFoldStart(), edits[0].GetFoldEnd(), text)
	} else {
		edits[0].BySummarizer = true
		held := e.simulation.foldedTokens(edits)
		edits[0].TokensFreed = held - min(held, foldBudget(s, held))
	}
	freed := e.simulation.addFold(edits)
	if freed == 0 {
		return false
	}
	if text != "" {
		edits[0].TokensFreed = freed
	}
	for _, edit := range edits {
		e.add(edit)
	}
	return true
}

// edits returns the edits of a fold without a text.
func (r foldRange) edits(s *session.State) []*compactordv1.Edit {
	messages := s.Kept[r.from:r.to]
	start, end := messages[0].GetIndex(), messages[len(messages)-1].GetIndex()+1
	edits := make([]*compactordv1.Edit, len(messages))
	for i, l := range messages {
		edits[i] = &compactordv1.Edit{
			Index: l.GetIndex(), Kind: compactordv1.EditKind_EDIT_KIND_FOLD, FoldStart: start, FoldEnd: end,
		}
	}
	return edits
}

// The text of a fold by the summarizer may have a fifth of what the view shows of the messages, and at most
// maxFoldTokens, in tokens of the model.
const (
	foldShare     = 5
	maxFoldTokens = 2_000
)

// foldBudget returns the budget, in stored tokens, for the text of a fold of messages that the view shows with this many
// tokens, with the line above the text.
func foldBudget(s *session.State, held uint32) uint32 {
	return max(minCompressedTokens, min(held/foldShare, s.Stored(maxFoldTokens)))
}

// FoldTextBudget returns how many stored tokens the text by the summarizer may have in the view, with the line above it,
// for an edit of a plan that carries a fold.
func FoldTextBudget(s *session.State, e *compactordv1.Edit) uint32 {
	held := FoldedTokens(s, e)
	return held - min(held, e.GetTokensFreed())
}

// foldedTokens returns the tokens that the view shows of the messages of a fold.
func (s *simulation) foldedTokens(edits []*compactordv1.Edit) uint32 {
	shownIn := s.around(edits)
	before := s.shownSize(shownIn)
	undo := s.addAll(edits)
	defer undo()
	return uint32(before.less(s.shownSize(shownIn))[byTokens])
}

// addFold adds the edits of a fold and returns how many tokens they free. It does not add them if they free none.
func (s *simulation) addFold(edits []*compactordv1.Edit) uint32 {
	shownIn := s.around(edits)
	before := s.shownSize(shownIn)
	counted := edits
	if edits[0].GetBySummarizer() {
		counted = slices.Concat([]*compactordv1.Edit{expected(s.state, edits[0])}, edits[1:])
	}
	undo := s.addAll(counted)
	freed := uint32(before.less(s.shownSize(shownIn))[byTokens])
	if freed == 0 {
		undo()
	}
	return freed
}

// addAll adds edits, and returns a function that removes them and all that were added after them to the same messages.
func (s *simulation) addAll(edits []*compactordv1.Edit) (undo func()) {
	undos := make([]func(), len(edits))
	for i, e := range edits {
		undos[i] = s.mark(e.GetIndex())
		s.edits[e.GetIndex()] = append(slices.Clip(s.edits[e.GetIndex()]), e)
	}
	return func() {
		for _, undo := range undos {
			undo()
		}
	}
}

// around returns the messages of a fold and the one after it, before which views show the results that its calls lack.
func (s *simulation) around(edits []*compactordv1.Edit) []*compactordv1.LoggedMessage {
	from, _ := position(s.state, edits[0].GetIndex())
	to, _ := position(s.state, edits[len(edits)-1].GetIndex())
	return s.state.Kept[from:min(to+2, len(s.state.Kept))]
}
