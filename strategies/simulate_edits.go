package strategies

import (
	"maps"
	"slices"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// simulation adds edits to a state, one after the other, and says what each frees. It draws the messages as the view does,
// so that its figures are the view's.
type simulation struct {
	state *session.State
	edits map[uint32][]*compactordv1.Edit
}

func newSimulation(s *session.State) *simulation {
	edits := make(map[uint32][]*compactordv1.Edit, len(s.Edits))
	maps.Copy(edits, s.Edits)
	return &simulation{state: s, edits: edits}
}

// add adds an edit to those in force and returns the tokens that it takes from the messages it shows in. An edit that
// frees none is not added.
func (s *simulation) add(e *compactordv1.Edit, shownIn ...*compactordv1.LoggedMessage) uint32 {
	freed, _ := s.addWhere(e, func(freed size) bool { return freed[byTokens] > 0 }, shownIn)
	return uint32(freed[byTokens])
}

// addThinking is add for an edit that drops thinking of a message, and says whether it was added: a byte that it frees is
// enough. What a provider redacted is in its attachments, which count no tokens, and thinking goes as a whole.
func (s *simulation) addThinking(e *compactordv1.Edit, l *compactordv1.LoggedMessage) (tokens uint32, added bool) {
	freed, added := s.addWhere(e, func(freed size) bool { return freed[byBytes] > 0 }, []*compactordv1.LoggedMessage{l})
	return uint32(freed[byTokens]), added
}

// addWhere adds an edit where what it frees is enough.
func (s *simulation) addWhere(
	e *compactordv1.Edit, enough func(freed size) bool, shownIn []*compactordv1.LoggedMessage,
) (size, bool) {
	before := s.shownSize(shownIn)
	undo := s.mark(e.GetIndex())
	s.edits[e.GetIndex()] = append(slices.Clip(s.edits[e.GetIndex()]), e)
	if freed := before.less(s.shownSize(shownIn)); enough(freed) {
		return freed, true
	}
	undo()
	return size{}, false
}

// mark returns what takes back the edits of a message that are added after it.
func (s *simulation) mark(index uint32) (undo func()) {
	old, had := s.edits[index]
	return func() {
		s.edits[index] = old
		if !had {
			delete(s.edits, index)
		}
	}
}

// empties says whether an edit would leave nothing of the message that the kept part begins with after a summary. What
// comes next may be no place to begin at.
func (s *simulation) empties(e *compactordv1.Edit, start *compactordv1.LoggedMessage) bool {
	if start.GetIndex() != e.GetIndex() {
		return false
	}
	edits := append(slices.Clip(s.edits[e.GetIndex()]), e)
	then := session.State{
		Head: s.state.Head, Counter: s.state.Counter, Edits: map[uint32][]*compactordv1.Edit{e.GetIndex(): edits},
	}
	return then.Emptied(start)
}

// shownSize is what these messages take in the view.
func (s *simulation) shownSize(messages []*compactordv1.LoggedMessage) size {
	shown := session.State{
		Head:    s.state.Head,
		Policy:  s.state.Policy,
		Counter: s.state.Counter,
		Kept:    messages,
		Edits:   s.edits,
	}
	v := shown.View(session.ViewOptions{})
	return size{byTokens: uint64(v.Tokens), byBytes: uint64(v.Bytes)}
}

// position returns where the message with an index stands in the kept part; false where it does not.
func position(s *session.State, index uint32) (int, bool) {
	return slices.BinarySearchFunc(s.Kept, index, func(l *compactordv1.LoggedMessage, index uint32) int {
		return int(int64(l.GetIndex()) - int64(index))
	})
}
