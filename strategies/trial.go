package strategies

import (
	"maps"
	"slices"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// trial tries edits on a state, one after the other, and says what each frees. It draws the messages as the view does,
// so that it can be no other figure than the view's.
type trial struct {
	state *session.State
	edits map[uint32][]*compactordv1.Edit
}

func newTrial(s *session.State) *trial {
	edits := make(map[uint32][]*compactordv1.Edit, len(s.Edits))
	maps.Copy(edits, s.Edits)
	return &trial{state: s, edits: edits}
}

// put adds an edit to those in force and returns the tokens that it takes from the messages it shows in. An edit that
// frees none is not added.
func (t *trial) put(e *compactordv1.Edit, shownIn ...*compactordv1.LoggedMessage) uint32 {
	before := t.tokens(shownIn)
	old, had := t.edits[e.GetIndex()]
	t.edits[e.GetIndex()] = append(slices.Clip(old), e)
	if after := t.tokens(shownIn); after < before {
		return before - after
	}
	if had {
		t.edits[e.GetIndex()] = old
	} else {
		delete(t.edits, e.GetIndex())
	}
	return 0
}

// tokens is what these messages take in the view.
func (t *trial) tokens(messages []*compactordv1.LoggedMessage) uint32 {
	shown := session.State{
		Head:    t.state.Head,
		Policy:  t.state.Policy,
		Counter: t.state.Counter,
		Kept:    messages,
		Edits:   t.edits,
	}
	return shown.View(session.ViewOptions{}).Tokens
}

// position returns where the message with an index stands in the kept part; false where it does not.
func position(s *session.State, index uint32) (int, bool) {
	return slices.BinarySearchFunc(s.Kept, index, func(l *compactordv1.LoggedMessage, index uint32) int {
		return int(int64(l.GetIndex()) - int64(index))
	})
}
