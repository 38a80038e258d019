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
	freed, _ := t.putWhere(e, func(freed weight) bool { return freed.tokens > 0 }, shownIn)
	return freed.tokens
}

// putThinking is put for an edit that drops thinking of a message, and says whether it was added: as little as a byte will
// do. What a provider redacted is in its attachments, which count no tokens, and thinking goes as a whole.
func (t *trial) putThinking(e *compactordv1.Edit, l *compactordv1.LoggedMessage) (tokens uint32, added bool) {
	freed, added := t.putWhere(e, func(freed weight) bool { return freed.bytes > 0 }, []*compactordv1.LoggedMessage{l})
	return freed.tokens, added
}

// putWhere adds an edit where what it frees is enough.
func (t *trial) putWhere(
	e *compactordv1.Edit, enough func(freed weight) bool, shownIn []*compactordv1.LoggedMessage,
) (weight, bool) {
	before := t.weigh(shownIn)
	undo := t.mark(e.GetIndex())
	t.edits[e.GetIndex()] = append(slices.Clip(t.edits[e.GetIndex()]), e)
	if freed := before.minus(t.weigh(shownIn)); enough(freed) {
		return freed, true
	}
	undo()
	return weight{}, false
}

// mark returns what takes back the edits of a message that are added after it.
func (t *trial) mark(index uint32) (undo func()) {
	old, had := t.edits[index]
	return func() {
		t.edits[index] = old
		if !had {
			delete(t.edits, index)
		}
	}
}

// weight is what messages take in the view.
type weight struct{ tokens, bytes uint32 }

// minus is how much less another weighs, and nothing where that weighs more.
func (w weight) minus(other weight) weight {
	return weight{w.tokens - min(w.tokens, other.tokens), w.bytes - min(w.bytes, other.bytes)}
}

// empties says whether an edit would leave nothing of the message that the kept part begins with behind a summary. What
// comes next may be no place to begin at.
func (t *trial) empties(e *compactordv1.Edit, start *compactordv1.LoggedMessage) bool {
	if start.GetIndex() != e.GetIndex() {
		return false
	}
	edits := append(slices.Clip(t.edits[e.GetIndex()]), e)
	then := session.State{
		Head: t.state.Head, Counter: t.state.Counter, Edits: map[uint32][]*compactordv1.Edit{e.GetIndex(): edits},
	}
	return then.Emptied(start)
}

// weigh is what these messages take in the view.
func (t *trial) weigh(messages []*compactordv1.LoggedMessage) weight {
	shown := session.State{
		Head:    t.state.Head,
		Policy:  t.state.Policy,
		Counter: t.state.Counter,
		Kept:    messages,
		Edits:   t.edits,
	}
	v := shown.View(session.ViewOptions{})
	return weight{v.Tokens, v.Bytes}
}

// position returns where the message with an index stands in the kept part; false where it does not.
func position(s *session.State, index uint32) (int, bool) {
	return slices.BinarySearchFunc(s.Kept, index, func(l *compactordv1.LoggedMessage, index uint32) int {
		return int(int64(l.GetIndex()) - int64(index))
	})
}
