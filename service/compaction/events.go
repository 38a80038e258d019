package compaction

import (
	"context"
	"sync"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/sessionlog"
)

// eventsAhead is how many events of a compaction that is not detached may wait for its client. Then the compaction
// waits too.
const eventsAhead = 16

// eventStream is the events of one compaction on their way to its client and to the watchers of the session. It numbers
// them in one order for all.
type eventStream struct {
	// stamp sets the fields that all events of the operation have, apart from the number.
	stamp func(e *compactordv1.CompactionEvent)
	// publish sends an event to the watchers of the session. It must not wait.
	publish func(e *compactordv1.CompactionEvent)
	// detached says that the compaction does not wait for its client. The client then misses the events that do not fit
	// into stream, but never the last one.
	detached bool

	// pending has one element for each event in stream that the client has not received.
	pending chan struct{}
	// stream is the queue to the client. It always has space for the last event, and is closed after that.
	stream chan *compactordv1.CompactionEvent

	mu     sync.Mutex
	number uint32
	// public says that the compaction has started, so that watchers get its events.
	public bool
	// sealed says that the last event has its number.
	sealed bool
}

// newEventStream returns the event stream of a compaction. At most ahead events wait for the client.
func newEventStream(ahead int, detached bool, stamp, publish func(e *compactordv1.CompactionEvent)) *eventStream {
	return &eventStream{
		stamp: stamp, publish: publish, detached: detached,
		pending: make(chan struct{}, ahead), stream: make(chan *compactordv1.CompactionEvent, ahead+1),
	}
}

// send sends an event. Where the queue to the client is full, it waits until the client has received one or ctx ends.
// If the compaction is detached, the client misses the event.
func (s *eventStream) send(ctx context.Context, e *compactordv1.CompactionEvent) {
	select {
	case s.pending <- struct{}{}:
		s.enqueue(e, true)
		return
	default:
	}
	if s.detached {
		s.enqueue(e, false)
		return
	}
	select {
	case s.pending <- struct{}{}:
		s.enqueue(e, true)
	case <-ctx.Done():
		// The compaction is about to end. Only a client that has stopped reading or is gone misses the event.
	}
}

// heartbeat sends a heartbeat if the queue is not full.
func (s *eventStream) heartbeat() {
	select {
	case s.pending <- struct{}{}:
		s.enqueue(&compactordv1.CompactionEvent{
			Event: &compactordv1.CompactionEvent_Heartbeat{Heartbeat: &compactordv1.Heartbeat{}},
		}, true)
	default:
	}
}

// enqueue numbers an event and sends it to the watchers, and to the client if toStream.
func (s *eventStream) enqueue(e *compactordv1.CompactionEvent, toStream bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sealed {
		return
	}
	s.next(e)
	if e.GetStarted() != nil {
		s.public = true
	}
	if s.public {
		s.publish(e)
	}
	if toStream {
		s.stream <- e
	}
}

func (s *eventStream) next(e *compactordv1.CompactionEvent) {
	s.number++
	e.Number = s.number
	s.stamp(e)
}

// seal numbers the last event; last is nil where the call ends with an error only. Later events are dropped.
func (s *eventStream) seal(last *compactordv1.CompactionEvent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sealed = true
	if last != nil {
		s.next(last)
	}
}

// end sends the last event, which seal has numbered, and closes the stream.
func (s *eventStream) end(last *compactordv1.CompactionEvent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last != nil {
		if s.public {
			s.publish(last)
		}
		s.stream <- last
	}
	close(s.stream)
}

// received says that the client has received an event.
func (s *eventStream) received() {
	select {
	case <-s.pending:
	default:
	}
}

// newEvents returns the job's event stream. Its first event has the findings.
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
