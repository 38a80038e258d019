package compaction

import (
	"context"
	"sync"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/sessionlog"
)

// eventsAhead is how far a compaction may run ahead of a stream that sets its pace.
const eventsAhead = 16

// eventStream is what a compaction tells. Its events get their numbers where they are made, in one order for all, and go to
// the stream and to those who watch the session.
type eventStream struct {
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

// newEventStream begins a stream that may run ahead of its stream by so many events.
func newEventStream(ahead int, detached bool, stamp, publish func(e *compactordv1.CompactionEvent)) *eventStream {
	return &eventStream{
		stamp: stamp, publish: publish, detached: detached,
		room: make(chan struct{}, ahead), stream: make(chan *compactordv1.CompactionEvent, ahead+1),
	}
}

// tell hands on an event. Where the stream has no room it sets the pace, until ctx ends; one that is detached misses the
// event.
func (t *eventStream) tell(ctx context.Context, e *compactordv1.CompactionEvent) {
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
func (t *eventStream) beat() {
	select {
	case t.room <- struct{}{}:
		t.put(&compactordv1.CompactionEvent{
			Event: &compactordv1.CompactionEvent_Heartbeat{Heartbeat: &compactordv1.Heartbeat{}},
		}, true)
	default:
	}
}

// put numbers an event and hands it on; to the stream only where it has room.
func (t *eventStream) put(e *compactordv1.CompactionEvent, room bool) {
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

func (t *eventStream) next(e *compactordv1.CompactionEvent) {
	t.number++
	e.Number = t.number
	t.stamp(e)
}

// seal numbers the last event; nil where only an error tells the end. No other event can come from then on.
func (t *eventStream) seal(last *compactordv1.CompactionEvent) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sealed = true
	if last != nil {
		t.next(last)
	}
}

// end hands on the sealed last event, and ends the stream.
func (t *eventStream) end(last *compactordv1.CompactionEvent) {
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
func (t *eventStream) taken() {
	select {
	case <-t.room:
	default:
	}
}

// newEvents begins the events of a compaction. The first of them tells the findings.
func (j *job) newEvents(name sessionlog.Name, findings []*compactordv1.Finding) *eventStream {
	ahead := eventsAhead
	if j.req.GetDetach() {
		ahead = j.EventsAhead
	}
	stamp := func(e *compactordv1.CompactionEvent) {
		e.OperationId, e.Time, e.WillRetry = j.id, j.logs.Now(), j.req.GetWillRetry()
		if e.GetNumber() == 1 {
			e.Findings = findings
		}
	}
	return newEventStream(ahead, j.req.GetDetach(), stamp, func(e *compactordv1.CompactionEvent) {
		j.publish(name, j.uid, e)
	})
}
