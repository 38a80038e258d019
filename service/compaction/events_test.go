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

// Nobody reads the stream: a detached telling goes on, keeps what there is room for, and the last event comes all the
// same. The watchers get all of it from `started` on.
func TestTellingWithoutAReader(t *testing.T) {
	t.Parallel()
	var watched []*compactordv1.CompactionEvent
	told := newEventStream(3, true, func(*compactordv1.CompactionEvent) {}, func(e *compactordv1.CompactionEvent) {
		watched = append(watched, e)
	})
	told.beat()
	told.tell(t.Context(), startedEvent())
	for range 4 {
		told.tell(t.Context(), progressEvent())
	}
	told.beat()
	end := cancelledEvent()
	told.seal(end)
	require.Equal(t, uint32(7), end.GetNumber())
	told.end(end)
	var streamed []*compactordv1.CompactionEvent
	for e := range told.stream {
		streamed = append(streamed, e)
		told.taken()
	}
	require.Equal(t, []uint32{1, 2, 3, 7}, numbers(streamed))
	require.Equal(t, []uint32{2, 3, 4, 5, 6, 7}, numbers(watched))
}

// What ends before it has started is told to its stream alone. Nothing comes between the number of the last event and
// the event.
func TestTellingThatNeverStarts(t *testing.T) {
	told := newEventStream(2, false, func(*compactordv1.CompactionEvent) {}, func(*compactordv1.CompactionEvent) {
		require.Fail(t, "published")
	})
	end := cancelledEvent()
	told.seal(end)
	told.beat()
	told.tell(t.Context(), startedEvent())
	told.end(end)
	require.Equal(t, uint32(1), (<-told.stream).GetNumber())
	_, more := <-told.stream
	require.False(t, more)
}
