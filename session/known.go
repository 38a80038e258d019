package session

import (
	"sync"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Known is what was found out about messages of a log, so that each is looked into once, however often the session is
// planned. A message never changes, so none of it gets old. The states of a log share it. It can be used concurrently, and
// a nil one knows nothing and remembers nothing.
type Known struct {
	mu sync.Mutex
	// messages are those that something is known of, by index. A log that is written anew can have another message at an
	// index, so each is compared.
	messages map[uint32]*knownMessage
}

type knownMessage struct {
	of *compactordv1.LoggedMessage
	// unedited is what views show of it where no record edits it. It is nil where views never show that, and where it was
	// not drawn.
	unedited *unedited
	drawn    bool
	// facts are what plans read of it.
	facts any
}

// unedited is what a view shows of a message that no record edits.
type unedited struct {
	shown SizedMessage
	// thinks says that it has thinking, which some views leave out. shortened says that it was shortened on its arrival,
	// which a pin undoes.
	thinks, shortened bool
}

// message returns what is known of a message. The caller has locked.
func (k *Known) message(l *compactordv1.LoggedMessage) *knownMessage {
	if known := k.messages[l.GetIndex()]; known != nil && known.of == l {
		return known
	}
	if k.messages == nil {
		k.messages = make(map[uint32]*knownMessage)
	}
	known := &knownMessage{of: l}
	k.messages[l.GetIndex()] = known
	return known
}

// Facts returns what read returns for a message, which is read once. There is one such value of a message, so all callers
// read the same.
func (k *Known) Facts(l *compactordv1.LoggedMessage, read func(*compactordv1.LoggedMessage) any) any {
	if k == nil {
		return read(l)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	known := k.message(l)
	if known.facts == nil {
		known.facts = read(l)
	}
	return known.facts
}

// unedited returns what a view shows of a message that no record edits; nil where views never show that, or where
// nothing is remembered.
func (k *Known) unedited(c Counter, l *compactordv1.LoggedMessage) *unedited {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	known := k.message(l)
	if !known.drawn {
		known.unedited, known.drawn = drawUnedited(c, l), true
	}
	return known.unedited
}

// forget forgets what is known of a message, which another one is to replace in the states.
func (k *Known) forget(l *compactordv1.LoggedMessage) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if known := k.messages[l.GetIndex()]; known != nil && known.of == l {
		delete(k.messages, l.GetIndex())
	}
}

func drawUnedited(c Counter, l *compactordv1.LoggedMessage) *unedited {
	m := l.GetMessage()
	if Failed(m) || foldIn(l.GetArrivalEdits()) != nil ||
		l.GetResultPlace() == compactordv1.ResultPlace_RESULT_PLACE_VOID ||
		l.GetResultPlace() == compactordv1.ResultPlace_RESULT_PLACE_STRAY {
		return nil
	}
	e := editedMessage{counter: c, logged: l, sizes: l.GetPartSizes()}
	e.nameCalls()
	e.apply(l.GetArrivalEdits())
	if len(e.message().GetParts()) == 0 && e.emptied() {
		return nil
	}
	vm := &compactordv1.ViewMessage{
		Message: e.message(), Origin: &compactordv1.ViewMessage_Index{Index: l.GetIndex()}, Edits: e.kinds, Tokens: e.tokens(),
	}
	return &unedited{shown: sized(c, vm), thinks: hasThinking(m), shortened: len(l.GetArrivalEdits()) > 0}
}

// SizedMessage is a message of a view with its size.
type SizedMessage struct {
	*compactordv1.ViewMessage

	// Bytes is its size in protobuf encoding.
	Bytes uint32
	// HasCalls says whether it has calls.
	HasCalls bool
	// media is the number of its media, mediaTokens and mediaBytes are their size.
	media, mediaTokens, mediaBytes uint32
}

func sized(c Counter, vm *compactordv1.ViewMessage) SizedMessage {
	m := vm.GetMessage()
	s := SizedMessage{ViewMessage: vm, Bytes: uint32(proto.Size(m)), HasCalls: hasCalls(m), media: countMedia(m)}
	s.mediaTokens, s.mediaBytes = MediaOf(c, m)
	return s
}
