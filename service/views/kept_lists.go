package views

import (
	"container/list"
	"encoding/json"
	"sync"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

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

// listKey identifies a rendered list: what a view token says of the view.
type listKey struct {
	uid     string
	point   uint32
	options [8]byte
}

func keyOf(token session.ViewToken) listKey {
	return listKey{token.UID, token.Point, token.Options}
}

// renderedList is a rendered view without the neutral messages that it was made from.
type renderedList struct {
	system, messages []json.RawMessage
	report           *compactordv1.ViewReport
	// head has the figures for the context report.
	head *storagev1.Head
}

type keptList struct {
	key  listKey
	list *renderedList
}

func (l *renderedList) size() int {
	size := 0
	for _, raw := range l.system {
		size += len(raw)
	}
	for _, raw := range l.messages {
		size += len(raw)
	}
	return size
}

func (k *KeptLists) get(key listKey) *renderedList {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	at := k.byKey[key]
	if at == nil {
		return nil
	}
	k.order.MoveToFront(at)
	kept, ok := at.Value.(*keptList)
	if !ok {
		return nil
	}
	return kept.list
}

// put keeps a list, unless it is larger than all that is kept.
func (k *KeptLists) put(key listKey, l *renderedList) {
	if k == nil || l.size() > k.MaxBytes {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.removeLocked(k.byKey[key])
	for k.bytes+l.size() > k.MaxBytes {
		k.removeLocked(k.order.Back())
	}
	if k.byKey == nil {
		k.byKey = make(map[listKey]*list.Element)
	}
	k.byKey[key] = k.order.PushFront(&keptList{key, l})
	k.bytes += l.size()
}

// drop removes a list whose last page was read.
func (k *KeptLists) drop(key listKey) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.removeLocked(k.byKey[key])
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
		UnchangedPrefix: uint32(unchanged), ViewReport: proto.CloneOf(l.report),
	}
	for _, raw := range l.system {
		answer.SystemJson = append(answer.SystemJson, string(raw))
	}
	size := 0
	for _, raw := range l.messages[unchanged:] {
		size += len(raw)
		if len(answer.GetMessagesJson()) > 0 && size > maxBytes {
			answer.HasMore = true
			break
		}
		answer.MessagesJson = append(answer.MessagesJson, string(raw))
	}
	token.Messages = uint32(unchanged + len(answer.GetMessagesJson()))
	answer.ViewToken = token.String()
	return answer
}
