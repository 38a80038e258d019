package service_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
)

// A watcher that is too slow can go on after the records that it got, as after messages.
func TestSlowWatcherGoesOnAfterItsRecords(t *testing.T) {
	t.Parallel()
	const events = 3000
	d := start(t, func(o *service.ServerOptions) { o.WatchQueue = events },
		withSummarizer(&scripted{name: "wordy", do: inDeltas(2*events, 1000)}))
	policy := by("wordy", noFallback, small(1000))
	d.create("s", policy)
	d.append("s", working(10, 2000)...)
	first := d.session("s").GetSession().GetPoint() + 1
	for range 2 {
		_, err := d.sessions.UpdateSession(t.Context(), &compactordv1.UpdateSessionRequest{
			SessionId: "s", UpdateMask: mask("policy"), Policy: policy,
		})
		require.NoError(t, err)
	}
	stuck := d.unread().watch(&compactordv1.WatchSessionRequest{
		SessionId: "s", Events: true, FromSequence: proto.Uint32(first),
	})
	require.Equal(t, int(first), sequenceOf(stuck.next()))
	require.Equal(t, int(first)+1, sequenceOf(stuck.next()))
	_, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	info := requireReason(t, stuck.last(), codes.ResourceExhausted, "WATCHER_TOO_SLOW")
	require.NotContains(t, []string{fmt.Sprint(first), fmt.Sprint(first + 1)}, info.GetMetadata()["next_sequence"])
}

// A client that catches up with a long log gets the events of a compaction meanwhile, not only after the end of the
// log.
func TestEventsComeBetweenTheMessagesOfALongLog(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", small(1000))
	d.append("s", working(50, 50_000)...)
	end := d.session("s").GetSession().GetPoint()
	w := d.unread().watch(&compactordv1.WatchSessionRequest{SessionId: "s", Events: true, FromSequence: proto.Uint32(0)})
	_, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	delivered := -1
	for {
		answer := w.next()
		if answer.GetEvent() != nil {
			break
		}
		delivered = sequenceOf(answer)
	}
	require.Less(t, delivered, int(end))
}
