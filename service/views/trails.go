package views

import (
	"container/list"
	"sync"

	"github.com/compactord/compactord/session"
)

// DefaultTrailBytes is how many bytes of trails a daemon keeps by default.
const DefaultTrailBytes = 32 << 20

// Trails keeps what is remembered of rendered lists. Of each list it has the two newest, since a client whose answer got
// lost asks again from the one before. A list of which nothing is there, after a restart or since others took its room, is
// rendered as a whole. All methods may be called concurrently; nil keeps nothing.
type Trails struct {
	// MaxBytes is how many bytes of trails are kept. Those that were not used for the longest time go first.
	MaxBytes int

	mu    sync.Mutex
	bytes int
	// order holds a keptTrails in each element, the one used last in front.
	order list.List
	byKey map[trailKey]*list.Element
}

// trailKey identifies the views of a session with the same options.
type trailKey struct {
	uid     string
	options [8]byte
}

type keptTrails struct {
	key trailKey
	// newest is the one put last, and earlier the one before it; nil where there is none.
	newest, earlier *trail
}

// bytesOfTrail is about how many bytes a trail takes without its steps.
const bytesOfTrail = 256

// size returns about how many bytes it takes; 0 where it is nil.
func (t *trail) size() int {
	switch {
	case t == nil:
		return 0
	case t.last == nil:
		return bytesOfTrail
	default:
		return bytesOfTrail + t.last.size
	}
}

func (k *keptTrails) size() int { return k.newest.size() + k.earlier.size() }

// of returns the trail of the view of a token; nil where none is kept.
func (k *Trails) of(token session.ViewToken) *trail {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	at := k.byKey[trailKey{token.UID, token.Options}]
	if at == nil {
		return nil
	}
	k.order.MoveToFront(at)
	kept, ok := at.Value.(*keptTrails)
	switch {
	case ok && kept.newest.point == token.Point:
		return kept.newest
	case ok && kept.earlier != nil && kept.earlier.point == token.Point:
		return kept.earlier
	default:
		return nil
	}
}

// know reports whether something is kept of the views of a session with the options of a token.
func (k *Trails) know(token session.ViewToken) bool {
	if k == nil {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.byKey[trailKey{token.UID, token.Options}] != nil
}

// put keeps the trail of the view of a token, unless it is larger than all that is kept.
func (k *Trails) put(token session.ViewToken, t *trail) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	now := &keptTrails{key: trailKey{token.UID, token.Options}, newest: t}
	if before := k.removeLocked(k.byKey[now.key]); before != nil {
		now.earlier = before.newest
		if now.earlier.point == t.point {
			now.earlier = before.earlier
		}
	}
	if now.size() > k.MaxBytes {
		now.earlier = nil
	}
	if now.size() > k.MaxBytes {
		return
	}
	for k.bytes+now.size() > k.MaxBytes {
		k.removeLocked(k.order.Back())
	}
	if k.byKey == nil {
		k.byKey = make(map[trailKey]*list.Element)
	}
	k.byKey[now.key] = k.order.PushFront(now)
	k.bytes += now.size()
}

// removeLocked removes what is kept of a list, and returns it; nil where that is nothing.
func (k *Trails) removeLocked(at *list.Element) *keptTrails {
	if at == nil {
		return nil
	}
	gone, ok := k.order.Remove(at).(*keptTrails)
	if !ok {
		return nil
	}
	delete(k.byKey, gone.key)
	k.bytes -= gone.size()
	return gone
}
