package views

import (
	"container/list"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/compactord/compactord/dialects/dialect"
	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// keptFor is how long a list is kept whose client does not ask for the next page.
const keptFor = 10 * time.Minute

// DefaultKeptBytes is how many bytes of rendered lists a daemon keeps by default.
const DefaultKeptBytes = 64 << 20

// KeptLists keeps rendered lists whose clients will ask for the next page, so that a page does not render the whole view
// again. A list that is not there, after a restart or since others took its room, is rendered again. All methods may be
// called concurrently; nil keeps nothing.
type KeptLists struct {
	// MaxBytes is how many bytes of lists are kept. The lists that were not used for the longest time go first.
	MaxBytes int

	mu    sync.Mutex
	bytes int
	// order holds a keptList in each element, the one used last in front.
	order list.List
	byKey map[listKey]*list.Element
}

// listKey identifies a rendered list: what a view token says of the view, and the position of the list's first message.
type listKey struct {
	uid     string
	point   uint32
	options [8]byte
	extra   [8]byte
	first   int
}

func keyOf(token session.ViewToken) listKey {
	key := listKey{uid: token.UID, point: token.Point, options: token.Options}
	if token.Extra != nil {
		key.extra = token.Extra.Hash
	}
	return key
}

func (k listKey) from(first int) listKey {
	k.first = first
	return k
}

// renderedList is a rendered view without the neutral messages that it was made from. It is not changed once it is made.
type renderedList struct {
	system []json.RawMessage
	// messages are those from the position first on. rest says where those after them begin; nil where there are none.
	first    int
	messages []json.RawMessage
	rest     *restart
	// sources are for each of messages the messages of the view that it was made from.
	sources []dialect.Span
	// stays is how many messages stay the start of later lists.
	stays  uint32
	report *compactordv1.ViewReport
	// head has the figures for the context report.
	head *storagev1.Head
}

type keptList struct {
	key  listKey
	list *renderedList
	used time.Time
}

func (l *renderedList) size() int {
	size := heldBy(l.system) + heldBy(l.messages) + sourceBytes*cap(l.sources)
	if l.rest != nil && l.rest.before != nil {
		size += l.rest.before.Size()
	}
	return size
}

// sourceBytes is what a source takes.
const sourceBytes = 16

// messageBytes is what a message of a list takes beside its bytes: its place in the list, and what is lost around it.
const messageBytes = 32

func heldBy(messages []json.RawMessage) int { return sizeOf(messages) + messageBytes*cap(messages) }

func sizeOf(messages []json.RawMessage) int {
	size := 0
	for _, raw := range messages {
		size += len(raw)
	}
	return size
}

// isWhole reports whether it has all messages.
func (l *renderedList) isWhole() bool { return l.first == 0 && l.rest == nil }

// from returns the messages from a position on.
func (l *renderedList) from(position int) []json.RawMessage { return l.messages[position-l.first:] }

// has reports whether it has a page of so many bytes from a position on.
func (l *renderedList) has(position, maxBytes int) bool {
	return l.rest == nil || sizeOf(l.from(position)) > maxBytes
}

// add adds messages to the end, and what they were made from.
func (l *renderedList) add(messages []json.RawMessage, sources []dialect.Span) {
	l.messages, l.sources = append(l.messages, messages...), append(l.sources, sources...)
}

// after returns the list for the pages from a position on. A whole list is for all pages.
func (l *renderedList) after(position int) *renderedList {
	if l.isWhole() {
		return l
	}
	rest := *l
	// A copy, so that the messages before can go.
	rest.sources = slices.Clone(l.sources[position-l.first:])
	rest.first, rest.messages = position, slices.Clone(l.from(position))
	return &rest
}

// goingOn returns the list of a view for a client that holds a part of it, and the position of the next message.
func (k *KeptLists) goingOn(wanted, held session.ViewToken) (*renderedList, int) {
	l := k.get(keyOf(wanted), heldOf(held, staysWhole))
	if l == nil {
		return nil, 0
	}
	position := heldOf(held, l.stays)
	if position < l.first {
		return nil, 0
	}
	return l, position
}

// get returns a list that begins at a position, or one from the first message on that goes so far.
func (k *KeptLists) get(key listKey, position int) *renderedList {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.expireLocked()
	at := k.byKey[key.from(position)]
	if at == nil {
		at = k.byKey[key]
	}
	if at == nil {
		return nil
	}
	kept, ok := at.Value.(*keptList)
	if !ok || position > kept.list.first+len(kept.list.messages) {
		return nil
	}
	if kept.list.first == 0 {
		// Another one is for one page, which the client reads now.
		k.order.MoveToFront(at)
		kept.used = time.Now()
	}
	return kept.list
}

// put keeps a list, unless it is larger than all that is kept.
func (k *KeptLists) put(key listKey, l *renderedList) {
	if k == nil || l.size() > k.MaxBytes {
		return
	}
	key = key.from(l.first)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.expireLocked()
	k.removeLocked(k.byKey[key])
	for k.bytes+l.size() > k.MaxBytes {
		k.removeLocked(k.order.Back())
	}
	if k.byKey == nil {
		k.byKey = make(map[listKey]*list.Element)
	}
	k.byKey[key] = k.order.PushFront(&keptList{key, l, time.Now()})
	k.bytes += l.size()
}

// drop removes a list whose last page was read.
func (k *KeptLists) drop(key listKey, first int) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.removeLocked(k.byKey[key.from(first)])
}

// expireLocked removes the lists whose clients have not asked for longer than keptFor.
func (k *KeptLists) expireLocked() {
	for at := k.order.Back(); at != nil; at = k.order.Back() {
		if kept, ok := at.Value.(*keptList); ok && time.Since(kept.used) <= keptFor {
			return
		}
		k.removeLocked(at)
	}
}

func (k *KeptLists) removeLocked(at *list.Element) {
	if at == nil {
		return
	}
	if gone, ok := k.order.Remove(at).(*keptList); ok {
		delete(k.byKey, gone.key)
		k.bytes -= gone.list.size()
	}
}

// page returns the messages after the unchanged ones that fit into maxBytes, and at least one.
func (l *renderedList) page(token session.ViewToken, unchanged, maxBytes int) *compactordv1.GetLLMViewResponse {
	answer := &compactordv1.GetLLMViewResponse{
		UnchangedPrefix: uint32(unchanged), ViewReport: shared(l.report),
	}
	for _, raw := range l.system {
		answer.SystemJson = append(answer.SystemJson, textOf(raw))
	}
	size := 0
	answer.HasMore = l.rest != nil
	for _, raw := range l.from(unchanged) {
		size += len(raw)
		if len(answer.GetMessagesJson()) > 0 && size > maxBytes {
			answer.HasMore = true
			break
		}
		answer.MessagesJson = append(answer.MessagesJson, textOf(raw))
	}
	token = holding(token, uint32(unchanged+len(answer.GetMessagesJson())), l.stays, answer.GetHasMore())
	answer.ViewToken = token.String()
	return answer
}

// sourcesOf returns what so many messages from a position on were made from.
func (l *renderedList) sourcesOf(position, messages int, item itemPlace) []*compactordv1.ViewRange {
	ranges := make([]*compactordv1.ViewRange, 0, messages)
	for _, span := range l.sources[position-l.first:][:messages] {
		ranges = append(ranges, item.neutralOf(span))
	}
	return ranges
}
