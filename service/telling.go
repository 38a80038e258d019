package service

import (
	"context"
	"sync"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// eventsAhead is how far a compaction may run ahead of a stream that sets its pace.
const eventsAhead = 16

// telling is what a compaction tells. Its events get their numbers where they are made, in one order for all, and go to
// the stream and to those who watch the session.
type telling struct {
	// stamp fills in what all events of the operation have, beside the number.
	stamp func(e *compactordv1.CompactionEvent)
	// publish hands an event to the watchers of the session. It must not wait.
	publish func(e *compactordv1.CompactionEvent)
	// detached says that the stream must not set the pace: what it has no room for it misses, but never the last event.
	detached bool

	// room holds one element for each event that the stream has yet to take.
	room chan struct{}
	// stream takes the events of the stream. It has room for the last one, whatever is in it, and is closed after that.
	stream chan *compactordv1.CompactionEvent

	mu     sync.Mutex
	number uint32
	// public says that the watchers know of the compaction: it has started.
	public bool
	// sealed says that the last event has its number.
	sealed bool
}

// newTelling begins a telling that may run ahead of its stream by so many events.
func newTelling(ahead int, detached bool, stamp, publish func(e *compactordv1.CompactionEvent)) *telling {
	return &telling{
		stamp: stamp, publish: publish, detached: detached,
		room: make(chan struct{}, ahead), stream: make(chan *compactordv1.CompactionEvent, ahead+1),
	}
}

// tell hands on an event. Where the stream has no room it sets the pace, until ctx ends; one that is detached misses the
// event.
func (t *telling) tell(ctx context.Context, e *compactordv1.CompactionEvent) {
	select {
	case t.room <- struct{}{}:
		t.put(e, true)
		return
	default:
	}
	if t.detached {
		t.put(e, false)
		return
	}
	select {
	case t.room <- struct{}{}:
		t.put(e, true)
	case <-ctx.Done():
		// It is going to end. Only a client that has stopped reading or is gone misses the event.
	}
}

// beat tells that the compaction still runs, if the stream has room for it.
func (t *telling) beat() {
	select {
	case t.room <- struct{}{}:
		t.put(&compactordv1.CompactionEvent{
			Event: &compactordv1.CompactionEvent_Heartbeat{Heartbeat: &compactordv1.Heartbeat{}},
		}, true)
	default:
	}
}

// put numbers an event and hands it on; to the stream only where it has room.
func (t *telling) put(e *compactordv1.CompactionEvent, room bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sealed {
		return
	}
	t.next(e)
	if e.GetStarted() != nil {
		t.public = true
	}
	if t.public {
		t.publish(e)
	}
	if room {
		t.stream <- e
	}
}

func (t *telling) next(e *compactordv1.CompactionEvent) {
	t.number++
	e.Number = t.number
	t.stamp(e)
}

// seal numbers the last event; nil where only an error tells the end. No other event can come from then on.
func (t *telling) seal(last *compactordv1.CompactionEvent) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sealed = true
	if last != nil {
		t.next(last)
	}
}

// end hands on the sealed last event, and ends the stream.
func (t *telling) end(last *compactordv1.CompactionEvent) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if last != nil {
		if t.public {
			t.publish(last)
		}
		t.stream <- last
	}
	close(t.stream)
}

// taken makes room for another event of the stream.
func (t *telling) taken() {
	select {
	case <-t.room:
	default:
	}
}
