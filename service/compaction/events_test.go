package compaction

import (
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func progressEvent() *compactordv1.CompactionEvent {
	return &compactordv1.CompactionEvent{
		Event: &compactordv1.CompactionEvent_Progress{Progress: &compactordv1.CompactionProgress{}},
	}
}

func startedEvent() *compactordv1.CompactionEvent {
	return &compactordv1.CompactionEvent{
		Event: &compactordv1.CompactionEvent_Started{Started: &compactordv1.CompactionStarted{}},
	}
}

func cancelledEvent() *compactordv1.CompactionEvent {
	return &compactordv1.CompactionEvent{
		Event: &compactordv1.CompactionEvent_Cancelled{Cancelled: &compactordv1.CompactionCancelled{}},
	}
}

func numbers(events []*compactordv1.CompactionEvent) []uint32 {
	var all []uint32
	for _, e := range events {
		all = append(all, e.GetNumber())
	}
	return all
}

// Nobody reads the stream of a detached compaction: it goes on, the queue keeps as many events as fit, and the last
// event always comes. The watchers get all events from `started` on.
func TestEventStreamWithoutAReader(t *testing.T) {
	t.Parallel()
	var watched []*compactordv1.CompactionEvent
	events := newEventStream(3, true, func(*compactordv1.CompactionEvent) {}, func(e *compactordv1.CompactionEvent) {
		watched = append(watched, e)
	})
	events.heartbeat()
	events.send(t.Context(), startedEvent())
	for range 4 {
		events.send(t.Context(), progressEvent())
	}
	events.heartbeat()
	end := cancelledEvent()
	events.seal(end)
	require.Equal(t, uint32(7), end.GetNumber())
	events.end(end)
	var streamed []*compactordv1.CompactionEvent
	for e := range events.stream {
		streamed = append(streamed, e)
		events.received()
	}
	require.Equal(t, []uint32{1, 2, 3, 7}, numbers(streamed))
	require.Equal(t, []uint32{2, 3, 4, 5, 6, 7}, numbers(watched))
}

// The watchers get no event of a compaction that ends before it has started. No event comes between the last event's
// number and the event itself.
func TestEventStreamOfACompactionThatNeverStarts(t *testing.T) {
	events := newEventStream(2, false, func(*compactordv1.CompactionEvent) {}, func(*compactordv1.CompactionEvent) {
		require.Fail(t, "published")
	})
	end := cancelledEvent()
	events.seal(end)
	events.heartbeat()
	events.send(t.Context(), startedEvent())
	events.end(end)
	require.Equal(t, uint32(1), (<-events.stream).GetNumber())
	_, more := <-events.stream
	require.False(t, more)
}
