package session

import (
	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Figures are the figures of a view that depend on its options.
type Figures struct {
	// Tokens is the estimate of its messages, Bytes their size in protobuf encoding, Messages their number.
	Tokens, Bytes, Messages uint32
	// PinnedTokens, PinnedKeptTokens, PinnedTailTokens and TailTokens are what a head has under these names.
	PinnedTokens, PinnedKeptTokens, PinnedTailTokens, TailTokens uint32
}

// FiguresOf returns the figures that a head has of the view by its policy.
func FiguresOf(h *storagev1.Head) Figures {
	return Figures{
		Tokens: h.GetViewTokens(), Bytes: h.GetViewBytes(), Messages: h.GetViewMessages(),
		PinnedTokens: h.GetPinnedTokens(), PinnedKeptTokens: h.GetPinnedKeptTokens(),
		PinnedTailTokens: h.GetPinnedTailTokens(), TailTokens: h.GetTailTokens(),
	}
}

// InHead returns a copy of a head with these figures.
func (f Figures) InHead(head *storagev1.Head) *storagev1.Head {
	h := proto.CloneOf(head)
	f.into(h)
	return h
}

func (f Figures) into(h *storagev1.Head) {
	h.ViewTokens, h.ViewBytes, h.ViewMessages = f.Tokens, f.Bytes, f.Messages
	h.PinnedTokens, h.PinnedKeptTokens, h.PinnedTailTokens = f.PinnedTokens, f.PinnedKeptTokens, f.PinnedTailTokens
	h.TailTokens = f.TailTokens
}

// all returns the figures in the order of tokens.
func all(f *Figures) [7]*uint32 {
	return [7]*uint32{
		&f.Tokens, &f.Bytes, &f.Messages, &f.PinnedTokens, &f.PinnedKeptTokens, &f.PinnedTailTokens, &f.TailTokens,
	}
}

// meter computes the figures of a view from its messages. The head has the lead's tokens and the index of the tail.
type meter struct {
	head *storagev1.Head
	sum  Figures
	// outOfPlace are the tokens of the messages out of place. tail are those from the tail on, and inTail says that they
	// are reached.
	outOfPlace, tail uint32
	// blocks are the tokens of context blocks.
	blocks uint32
	inTail bool
}

// add adds a message of so many bytes.
func (m *meter) add(vm *compactordv1.ViewMessage, bytes uint32) {
	m.sum.Messages++
	m.sum.Tokens = plus(m.sum.Tokens, vm.GetTokens())
	m.sum.Bytes += bytes
	m.addPinned(vm)
	if vm.GetContextBlock() != nil {
		m.blocks = plus(m.blocks, vm.GetTokens())
		return
	}
	if index, ok := firstIndex(vm); ok && m.head.TailIndex != nil && index >= m.head.GetTailIndex() && !vm.GetOutOfPlace() {
		m.inTail = true
	}
	// Repairs before the message at the tail's index are no part of the tail.
	if m.inTail {
		m.tail += vm.GetTokens()
	}
}

// firstIndex returns the index of the log's first message that a message of the view stands for; false where that is a
// summary or a repair, or where there is none.
func firstIndex(vm *compactordv1.ViewMessage) (uint32, bool) {
	switch o := vm.GetOrigin().(type) {
	case *compactordv1.ViewMessage_Index:
		return o.Index, true
	case *compactordv1.ViewMessage_Folded:
		return o.Folded.GetStart(), true
	default:
		return 0, false
	}
}

// addPinned counts a pinned message: out of place, before the smallest valid kept part, or in it.
func (m *meter) addPinned(vm *compactordv1.ViewMessage) {
	if vm.GetOutOfPlace() {
		m.outOfPlace += vm.GetTokens()
	}
	index, ofLog := shownIndex(vm)
	switch {
	case !ofLog:
	case vm.GetOutOfPlace():
		// The next compaction can remove what this one replays.
		if !Replayed(m.head, index) {
			m.sum.PinnedTokens += vm.GetTokens()
		}
	case index < m.head.GetLeadEnd() || !Pinned(m.head, index):
	case m.head.TailIndex == nil || index >= m.head.GetTailIndex():
		m.sum.PinnedTailTokens += vm.GetTokens()
	default:
		m.sum.PinnedKeptTokens += vm.GetTokens()
	}
}

func (m *meter) figures() Figures {
	f := m.sum
	f.TailTokens = m.tail
	if m.head.TailIndex == nil {
		// Without a valid cut there is no compaction, so all messages after the leading ones stay where they are.
		f.TailTokens = f.Tokens - m.head.GetLeadTokens() - m.outOfPlace - m.blocks
	}
	return f
}
