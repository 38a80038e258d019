package session

import (
	"slices"
	"sync"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Known is what was found out about messages of a log, so that each is looked into once, however often the session is
// planned. A message never changes, so none of it gets old. The states of a log share it. It can be used concurrently, and
// a nil one knows nothing and remembers nothing.
type Known struct {
	mu sync.Mutex
	// chunks have the messages that something is known of, by index, each those of chunkMessages indexes. A log that is
	// written anew can have another message at an index, so each is compared.
	chunks map[uint32]*knownChunk
	// latest is the chunk that was used last, of the messages from latestFrom on: plans go through the messages in order.
	latest     *knownChunk
	latestFrom uint32
	// outlined are the facts of outlines without arguments of calls. They were read before these were left out.
	outlined map[*compactordv1.LoggedMessage]outlineFacts
}

// chunkMessages is how many messages a chunk has.
const chunkMessages = 128

type knownChunk [chunkMessages]*knownMessage

// outlineFacts are what plans read of a message, and about how many bytes that takes.
type outlineFacts struct {
	facts any
	bytes int
}

type knownMessage struct {
	of *compactordv1.LoggedMessage
	// unedited is what views show of it where no record edits it, edited where records make just edits.
	unedited, edited drawing
	edits            []drawnEdit
	// facts are what plans read of it.
	facts any
}

// drawing is what views show of a message, once it is drawn. It is nil where views never show that.
type drawing struct {
	*drawnMessage

	done bool
}

// drawnMessage is what a view shows of a message.
type drawnMessage struct {
	shown SizedMessage
	// thinks says that it has thinking, which some views leave out. edited says that it has edits, which a pin undoes.
	thinks, edited bool
}

// at returns where it is held what is known of the message with an index. The caller has locked.
func (k *Known) at(index uint32) **knownMessage {
	from := index - index%chunkMessages
	if k.latest == nil || k.latestFrom != from {
		if k.chunks == nil {
			k.chunks = make(map[uint32]*knownChunk)
		}
		if k.chunks[from] == nil {
			k.chunks[from] = new(knownChunk)
		}
		k.latest, k.latestFrom = k.chunks[from], from
	}
	return &k.latest[index-from]
}

// message returns what is known of a message. The caller has locked.
func (k *Known) message(l *compactordv1.LoggedMessage) *knownMessage {
	at := k.at(l.GetIndex())
	if *at == nil || (*at).of != l {
		*at = &knownMessage{of: l}
	}
	return *at
}

// Facts returns what read returns for a message, which is read once. There is one such value of a message, so all callers
// read the same.
func (k *Known) Facts(l *compactordv1.LoggedMessage, read func(*compactordv1.LoggedMessage) any) any {
	if k == nil {
		return read(l)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if outlined, ok := k.outlined[l]; ok {
		return outlined.facts
	}
	known := k.message(l)
	if known.facts == nil {
		known.facts = read(l)
	}
	return known.facts
}

// outline remembers the facts of an outline without arguments of calls.
func (k *Known) outline(l *compactordv1.LoggedMessage, facts any, bytes int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.outlined == nil {
		k.outlined = make(map[*compactordv1.LoggedMessage]outlineFacts)
	}
	k.outlined[l] = outlineFacts{facts, bytes}
}

// outlinedBytes returns about how many bytes the facts of an outline take; 0 for any other message.
func (k *Known) outlinedBytes(l *compactordv1.LoggedMessage) int {
	if k == nil {
		return 0
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.outlined[l].bytes
}

// drawn returns what a view shows of a message where records make these edits; nil where views never show that, or where
// nothing is remembered. Of what records make of it, only the newest is remembered.
func (k *Known) drawn(c Counter, l *compactordv1.LoggedMessage, edits []*compactordv1.Edit) *drawnMessage {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	known := k.message(l)
	at := &known.unedited
	if len(edits) > 0 {
		if at = &known.edited; !slices.EqualFunc(known.edits, edits, drawnEdit.isOf) {
			known.edits, known.edited = drawnEdits(edits), drawing{}
		}
	}
	if !at.done {
		*at = drawing{drawMessage(c, l, edits), true}
	}
	return at.drawnMessage
}

// drawnEdit is what a drawing takes of an edit. Each plan makes edits of its own, which say the same as those of the plan
// before, and get a text later where the summarizer writes it.
type drawnEdit struct {
	kind        compactordv1.EditKind
	part        uint32
	replacement string
}

func (d drawnEdit) isOf(e *compactordv1.Edit) bool {
	return d == drawnEdit{e.GetKind(), e.GetPart(), e.GetReplacement()}
}

func drawnEdits(edits []*compactordv1.Edit) []drawnEdit {
	drawn := make([]drawnEdit, len(edits))
	for i, e := range edits {
		drawn[i] = drawnEdit{e.GetKind(), e.GetPart(), e.GetReplacement()}
	}
	return drawn
}

// forget forgets what is known of a message, which another one is to replace in the states.
func (k *Known) forget(l *compactordv1.LoggedMessage) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if at := k.at(l.GetIndex()); *at != nil && (*at).of == l {
		*at = nil
	}
}

func drawMessage(c Counter, l *compactordv1.LoggedMessage, edits []*compactordv1.Edit) *drawnMessage {
	all := editsOf(l, edits)
	if Failed(l.GetMessage()) || foldIn(all) != nil ||
		l.GetResultPlace() == compactordv1.ResultPlace_RESULT_PLACE_VOID ||
		l.GetResultPlace() == compactordv1.ResultPlace_RESULT_PLACE_STRAY {
		return nil
	}
	e := editedMessage{counter: c, logged: l, sizes: l.GetPartSizes()}
	e.nameCalls()
	e.apply(all)
	m := e.message()
	if len(m.GetParts()) == 0 && e.emptied() {
		return nil
	}
	vm := &compactordv1.ViewMessage{
		Message: m, Origin: &compactordv1.ViewMessage_Index{Index: l.GetIndex()}, Edits: e.kinds, Tokens: e.tokens(),
	}
	return &drawnMessage{shown: sized(c, vm), thinks: hasThinking(m), edited: len(all) > 0}
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
