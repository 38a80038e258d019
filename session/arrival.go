package session

import (
	"errors"
	"fmt"
	"slices"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// EditsOf returns the edits of a message in views, oldest first: its arrival edits, then those of records in force. A
// view shows a pinned message without them.
func (s *State) EditsOf(l *compactordv1.LoggedMessage) []*compactordv1.Edit {
	return editsOf(l, s.Edits[l.GetIndex()])
}

// editsOf returns the edits of a message of which records make these.
func editsOf(l *compactordv1.LoggedMessage, ofRecords []*compactordv1.Edit) []*compactordv1.Edit {
	if len(l.GetArrivalEdits()) == 0 {
		return ofRecords
	}
	return slices.Concat(l.GetArrivalEdits(), ofRecords)
}

// ErrArrivalEdit means that an arrival edit is not valid for its message.
var ErrArrivalEdit = errors.New("invalid arrival edit")

// CheckArrivalEdits checks the arrival edits of a linked message. It returns ErrArrivalEdit where views cannot apply
// them, or where they do not free the tokens that they claim. The error quotes no content.
func CheckArrivalEdits(c Counter, l *compactordv1.LoggedMessage) error {
	edits := l.GetArrivalEdits()
	if len(edits) == 0 {
		return nil
	}
	invalid := func(format string, args ...any) error {
		return fmt.Errorf("%w: message %d: %s", ErrArrivalEdit, l.GetIndex(), fmt.Sprintf(format, args...))
	}
	e := edits[0]
	switch {
	case l.GetResultPlace() != compactordv1.ResultPlace_RESULT_PLACE_ANSWER:
		return invalid("the result answers no call that views show")
	case len(edits) > 1:
		return invalid("%d edits of one result, at most 1 is allowed", len(edits))
	case e.GetIndex() != l.GetIndex():
		return invalid("the edit names message %d", e.GetIndex())
	case e.GetPart() != 0:
		return invalid("the edit names part %d, which is no result", e.GetPart())
	case e.GetKind() != compactordv1.EditKind_EDIT_KIND_TRUNCATE_RESULT &&
		e.GetKind() != compactordv1.EditKind_EDIT_KIND_OFFLOAD_RESULT:
		return invalid("a kind that is not allowed at the append: %d", e.GetKind())
	case e.GetBySummarizer():
		return invalid("by_summarizer is set, and no summarizer runs at the append")
	case e.GetReplacement() == "":
		return invalid("the replacement is empty")
	}
	if left := TextTokens(c, e.GetReplacement()); left >= l.GetTokens() || e.GetTokensFreed() != l.GetTokens()-left {
		return invalid("tokens_freed is %d, and the replacement leaves %d of %d tokens",
			e.GetTokensFreed(), left, l.GetTokens())
	}
	return nil
}

// tokensOnArrival returns the tokens of a message that was just appended, with its arrival edits: what no view has
// shown never filled the context. In a pinned group the whole message counts.
func tokensOnArrival(h *storagev1.Head, l *compactordv1.LoggedMessage) uint32 {
	tokens := l.GetTokens()
	if Pinned(h, l.GetIndex()) {
		return tokens
	}
	for _, e := range l.GetArrivalEdits() {
		tokens -= min(tokens, e.GetTokensFreed())
	}
	return tokens
}

// prunableOnArrival returns the tokens that hiding a result could free, where the result was just appended and is not
// pinned.
func prunableOnArrival(h *storagev1.Head, l *compactordv1.LoggedMessage) uint32 {
	if slices.ContainsFunc(l.GetArrivalEdits(), replacesWhole) {
		return 0
	}
	return tokensOnArrival(h, l)
}
