package sessionlog

import (
	"container/list"
	"slices"
	"sync"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// keptStateBytes is how many bytes of states are kept.
const keptStateBytes = 32 << 20

// keptStates keeps the states of sessions that are planned at each append, or at each turn, so that the next one reads only
// what was appended. They have outlines. The states that were not used for the longest time go first.
type keptStates struct {
	mu    sync.Mutex
	bytes int
	// order holds a keptState in each element, the one used last in front.
	order list.List
	byUID map[string]*list.Element
}

type keptState struct {
	uid   string
	state *session.State
	// bytes is what it takes, messages the part of it that its messages and edits take.
	bytes, messages int
}

// What is kept takes beside its encoding, about.
const (
	bytesOfState   = 4 << 10
	bytesOfMessage = 320
	bytesOfPart    = 224
	bytesOfKnown   = 320
	bytesOfCall    = 512
	bytesOfEdit    = 1 << 10
)

// get returns the state that is kept of a session; nil where there is none.
func (k *keptStates) get(uid string) *session.State {
	k.mu.Lock()
	defer k.mu.Unlock()
	at := k.byUID[uid]
	if at == nil {
		return nil
	}
	k.order.MoveToFront(at)
	if kept, ok := at.Value.(*keptState); ok {
		return kept.state
	}
	return nil
}

// put keeps a state of a session in place of an earlier one, unless it is larger than all that is kept. It comes from the
// state of a head by nothing but appends and these edits.
func (k *keptStates) put(uid string, s *session.State, before *storagev1.Head, edits []*compactordv1.Edit) {
	k.mu.Lock()
	defer k.mu.Unlock()
	messages := k.messagesLocked(uid, s, before, edits)
	bytes := bytesOfState + proto.Size(s.Head) + proto.Size(s.Entry) + s.Outlines.SharedBytes() + messages
	for _, b := range s.Blocks {
		bytes += bytesOfPart*len(b.GetParts()) + proto.Size(b)
	}
	for _, m := range s.Instructions {
		bytes += bytesOfPart*len(m.GetParts()) + proto.Size(m)
	}
	k.removeLocked(uid)
	if bytes > keptStateBytes {
		return
	}
	for k.bytes+bytes > keptStateBytes {
		if last, ok := k.order.Back().Value.(*keptState); ok {
			k.removeLocked(last.uid)
		}
	}
	if k.byUID == nil {
		k.byUID = make(map[string]*list.Element)
	}
	k.byUID[uid] = k.order.PushFront(&keptState{uid, s, bytes, messages})
	k.bytes += bytes
}

// messagesLocked returns about how many bytes the messages of a state take, with their edits. Where the state that is kept
// grew to this one, it looks only at what is new.
func (k *keptStates) messagesLocked(
	uid string, s *session.State, before *storagev1.Head, edits []*compactordv1.Edit,
) (bytes int) {
	from := uint32(0)
	if at := k.byUID[uid]; at != nil {
		if kept, ok := at.Value.(*keptState); ok && kept.state.GrowsTo(before) {
			bytes, from = kept.messages, kept.state.Head.GetNextIndex()
		}
	}
	for _, messages := range [][]*compactordv1.LoggedMessage{s.Lead, s.OutOfPlace, s.Kept} {
		for _, l := range slices.Backward(messages) {
			if l.GetIndex() < from {
				break
			}
			bytes += bytesOfLogged(s, l)
			if from == 0 {
				bytes += bytesOfEdits(s.Edits[l.GetIndex()])
			}
		}
	}
	if from > 0 {
		bytes += bytesOfEdits(edits)
	}
	return bytes
}

// bytesOfLogged returns about how many bytes a message of a state takes, without its edits.
func bytesOfLogged(s *session.State, l *compactordv1.LoggedMessage) int {
	bytes := bytesOfMessage + bytesOfPart*len(l.GetMessage().GetParts()) + s.Outlines.Bytes(l) + bytesOfKnown + s.Outlines.FactsBytes(l)
	for _, p := range l.GetMessage().GetParts() {
		if p.GetToolCall() != nil {
			bytes += bytesOfCall
		}
	}
	return bytes
}

func bytesOfEdits(edits []*compactordv1.Edit) (bytes int) {
	for _, e := range edits {
		bytes += bytesOfEdit + proto.Size(e)
	}
	return bytes
}

func (k *keptStates) remove(uid string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.removeLocked(uid)
}

func (k *keptStates) removeLocked(uid string) {
	at := k.byUID[uid]
	if at == nil {
		return
	}
	if gone, ok := k.order.Remove(at).(*keptState); ok {
		k.bytes -= gone.bytes
	}
	delete(k.byUID, uid)
}

// keep keeps the state of a write that was committed, where another append will need it and can go on from it.
func (l *Logs) keep(w *Write) {
	uid, s := w.Row().GetUid(), w.state
	edits, only := w.onlyPrunes()
	switch {
	case !only:
		l.keptStates.remove(uid)
	case s != nil && s.Outlines != nil && len(w.since) == 0 && w.plansAgain():
		l.keptStates.put(uid, s.Outlined(l.pieces(w.Row(), s.Head, minPieceBytes)), w.before.GetHead(), edits)
	}
}

// onlyPrunes reports whether the write has no records but prunes, and returns their edits.
func (w *Write) onlyPrunes() (edits []*compactordv1.Edit, only bool) {
	for _, r := range w.commit.Records {
		prune := r.GetRecord().GetPrune()
		if prune == nil {
			return nil, false
		}
		edits = append(edits, prune.GetEdits()...)
	}
	return edits, true
}

// plansAgain reports whether a later append will plan on the state: since a compaction is due, or since the policy plans at
// each turn.
func (w *Write) plansAgain() bool {
	return w.Row().GetDuePlan() != nil || len(w.Row().GetResolvedPolicy().GetOnUserMessage().GetStrategies()) > 0
}
