package sessiontest

import (
	"bytes"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// ChangedFrom compares the views before and after the record with this sequence, for each message of the log. It
// returns the lowest index that is shown or covered differently, or was not active before. The index is lowered to the
// start of its tool loop, as far as that is kept. It is nil where nothing differs.
func ChangedFrom(log *Log, sequence uint32) *uint32 {
	before := NewModel(log, sequence-1, log.PolicyAt(sequence-1))
	after := newModel(log, sequence, log.PolicyAt(sequence), int64(sequence))
	a, b := before.shownByIndex(), after.shownByIndex()
	for index := range log.Messages(sequence) + 1 {
		if bytes.Equal(a[index], b[index]) {
			continue
		}
		return proto.Uint32(before.loopStart(index))
	}
	return nil
}

// shownByIndex returns, for each index, what the view shows of it: its own messages, or the summary that covers it.
func (m *Model) shownByIndex() map[uint32][]byte {
	drawn := make(map[uint32][]byte)
	for _, vm := range m.View(session.ViewOptions{}).Messages {
		switch o := vm.GetOrigin().(type) {
		case *compactordv1.ViewMessage_Index:
			drawn[o.Index] = append(drawn[o.Index], Bytes(vm)...)
		case *compactordv1.ViewMessage_Folded:
			drawn[o.Folded.GetStart()] = append(drawn[o.Folded.GetStart()], Bytes(vm)...)
		case *compactordv1.ViewMessage_LogRepair:
			drawn[o.LogRepair.GetIndex()] = append(drawn[o.LogRepair.GetIndex()], Bytes(vm)...)
		case *compactordv1.ViewMessage_Instructions:
			drawn[0] = append(drawn[0], Bytes(vm)...)
		case *compactordv1.ViewMessage_ContextBlock:
			at := m.placeOf(o.ContextBlock)
			drawn[at] = append(drawn[at], Bytes(vm)...)
		}
	}
	for _, a := range m.Covered() {
		for _, vm := range m.summary() {
			drawn[a.Index] = append(drawn[a.Index], Bytes(vm)...)
		}
	}
	return drawn
}

// placeOf returns the index that a context block stands before.
func (m *Model) placeOf(b *compactordv1.ShownBlock) uint32 {
	before := m.latestBefore()
	switch {
	case b.GetPlace() == compactordv1.BlockPlace_BLOCK_PLACE_LEADING:
		if lead := m.Lead(); len(lead) > 0 {
			return lead[len(lead)-1].Index + 1
		}
		return 0
	case before == nil:
		return m.log.Messages(m.Point)
	default:
		return before.Index
	}
}

func (m *Model) loopStart(index uint32) uint32 {
	inLoop := func(a *Active) bool {
		return a.is(compactordv1.Role_ROLE_ASSISTANT, compactordv1.Role_ROLE_TOOL) && !a.endsLoop()
	}
	for _, a := range m.Kept() {
		if a.Index != index || !inLoop(a) {
			continue
		}
		for _, first := range m.Kept() {
			if first.loop == a.loop && inLoop(first) {
				return first.Index
			}
		}
	}
	return index
}

// Bytes returns the deterministic encoding of a message.
func Bytes(message proto.Message) []byte {
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(message)
	if err != nil {
		panic(err)
	}
	return b
}
