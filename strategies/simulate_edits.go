package strategies

import (
	"maps"
	"slices"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// simulation adds edits to a state one by one and computes what each frees. It renders messages like the view does, so
// its figures are those of the view.
type simulation struct {
	state *session.State
	edits map[uint32][]*compactordv1.Edit
}

func newSimulation(s *session.State) *simulation {
	edits := make(map[uint32][]*compactordv1.Edit, len(s.Edits))
	maps.Copy(edits, s.Edits)
	return &simulation{state: s, edits: edits}
}

// now returns the state with the edits so far.
func (s *simulation) now() *session.State {
	now := *s.state
	now.Edits = s.edits
	return &now
}

// add adds an edit and returns how many tokens it frees in the messages that show it. It does not add an edit that
// frees none.
func (s *simulation) add(e *compactordv1.Edit, shownIn ...*compactordv1.LoggedMessage) uint32 {
	freed, _ := s.addWhere(e, func(freed size) bool { return freed[byTokens] > 0 }, shownIn)
	return uint32(freed[byTokens])
}

// addThinking is add for an edit that drops thinking, and says whether it was added. It is enough if the edit frees a
// byte: redacted thinking is in attachments, which count no tokens, and all thinking of a message is dropped together.
func (s *simulation) addThinking(e *compactordv1.Edit, l *compactordv1.LoggedMessage) (tokens uint32, added bool) {
	freed, added := s.addWhere(e, func(freed size) bool { return freed[byBytes] > 0 }, []*compactordv1.LoggedMessage{l})
	return uint32(freed[byTokens]), added
}

// addWhere adds an edit if it frees enough.
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

// mark returns a function that undoes the edits of a message that are added after the call.
func (s *simulation) mark(index uint32) (undo func()) {
	old, had := s.edits[index]
	return func() {
		s.edits[index] = old
		if !had {
			delete(s.edits, index)
		}
	}
}

// empties says whether an edit would leave nothing of the first message after a summary. The message after that may not
// be a valid first one.
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

// shownSize returns the size of these messages in the view.
func (s *simulation) shownSize(messages []*compactordv1.LoggedMessage) size {
	shown := session.State{
		Head:    s.state.Head,
		Policy:  s.state.Policy,
		Counter: s.state.Counter,
		Kept:    messages,
		Edits:   s.edits,
		Known:   s.known(messages),
	}
	v := shown.View(session.ViewOptions{})
	return size{byTokens: uint64(v.Tokens), byBytes: uint64(v.Bytes)}
}

// known returns what is known of messages; nil where they are not the state's, such as a result that was read for a plan
// alone, which must not be kept.
func (s *simulation) known(messages []*compactordv1.LoggedMessage) *session.Known {
	for _, l := range messages {
		if at, kept := position(s.state, l.GetIndex()); !kept || s.state.Kept[at] != l {
			return nil
		}
	}
	return s.state.Known
}

// position returns the position in the kept part of the message with an index. It returns false if the message is not
// there.
func position(s *session.State, index uint32) (int, bool) {
	return slices.BinarySearchFunc(s.Kept, index, func(l *compactordv1.LoggedMessage, index uint32) int {
		return int(int64(l.GetIndex()) - int64(index))
	})
}
