package service_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// I10: a request that is sent again with its id does nothing twice and gets the recorded response, also after a
// restart.
func TestRequestsAreIdempotent(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	d := start(t, withStore(openStore(t, path)))
	create := &compactordv1.CreateSessionRequest{SessionId: "s", Policy: small(1000), RequestId: "create"}
	add := &compactordv1.AppendMessagesRequest{SessionId: "s", Messages: working(10, 2000), RequestId: "append"}
	update := &compactordv1.UpdateSessionRequest{
		SessionId: "s", UpdateMask: mask("title"), Title: "a title", RequestId: "update",
	}
	prune := &compactordv1.PruneRequest{
		Target: &compactordv1.PruneRequest_SessionId{SessionId: "s"}, RequestId: "prune",
		Policy: hideAllBut(1),
	}
	compact := compactRequest("s", nil)
	compact.RequestId = "compact"
	revert := &compactordv1.RevertToCheckpointRequest{
		SessionId: "s", Target: &compactordv1.RevertToCheckpointRequest_Point{Point: 41}, RequestId: "revert",
	}
	calls := func(d *daemon) []proto.Message {
		ctx := t.Context()
		var answers []proto.Message
		take := func(m proto.Message, err error) {
			require.NoError(t, err)
			answers = append(answers, m)
		}
		created, err := d.sessions.CreateSession(ctx, create)
		take(created, err)
		appended, err := d.sessions.AppendMessages(ctx, add)
		take(appended, err)
		updated, err := d.sessions.UpdateSession(ctx, update)
		take(updated, err)
		pruned, err := d.compactions.Prune(ctx, prune)
		take(pruned, err)
		events, err := d.compact(compact)
		require.NoError(t, err)
		take(last(t, events).GetCompleted(), nil)
		reverted, err := d.sessions.RevertToCheckpoint(ctx, revert)
		take(reverted, err)
		return answers
	}
	first := calls(d)
	view, records := d.view("s"), d.records("s")
	requireSame(t, first, calls(d))
	require.Len(t, d.records("s"), len(records))
	d.stop()

	d = start(t, withStore(openStore(t, path)))
	requireSame(t, first, calls(d))
	require.Len(t, d.records("s"), len(records))
	requireSameView(t, view, d.view("s"))

	add.Messages = working(9, 2000)
	_, err := d.sessions.AppendMessages(t.Context(), add)
	requireReason(t, err, codes.InvalidArgument, "REQUEST_ID_REUSED")
}

func requireSame(t *testing.T, want, got []proto.Message) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range want {
		require.Empty(t, cmp.Diff(want[i], got[i], protocmp.Transform()), "answer %d", i)
	}
}

// The same request, sent many times at once, is carried out once.
func TestSameRequestManyTimesAtOnce(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			answer, err := d.sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{
				SessionId: "s", Messages: []*compactordv1.Message{user("once")}, RequestId: "r",
			})
			if err != nil || answer.GetFirstIndex() != 0 {
				t.Errorf("answer %v, error %v", answer, err)
			}
		})
	}
	group.Wait()
	require.Len(t, d.messages("s"), 1)
}

// A failed request may be tried again with the same id.
func TestFailedRequestIsNotRemembered(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	req := &compactordv1.AppendMessagesRequest{
		SessionId: "s", Messages: []*compactordv1.Message{user("hello")}, RequestId: "r", ExpectedNextIndex: proto.Uint32(1),
	}
	_, err := d.sessions.AppendMessages(t.Context(), req)
	info := requireReason(t, err, codes.Aborted, "WRONG_NEXT_INDEX")
	require.Equal(t, "0", info.GetMetadata()["next_index"])
	req.ExpectedNextIndex = proto.Uint32(0)
	_, err = d.sessions.AppendMessages(t.Context(), req)
	require.NoError(t, err)
}

// At least the last 1,000 requests of a session are stored.
func TestThousandRequestsAreRemembered(t *testing.T) {
	inFull(t)
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	send := func(i int) uint32 {
		answer, err := d.sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{
			SessionId: "s", Messages: []*compactordv1.Message{user("hello")}, RequestId: fmt.Sprintf("r%d", i),
		})
		require.NoError(t, err)
		return answer.GetFirstIndex()
	}
	const requests = 1100
	for i := range requests {
		require.Equal(t, uint32(i), send(i))
	}
	for i := requests - 1000; i < requests; i++ {
		require.Equal(t, uint32(i), send(i))
	}
	require.Len(t, d.messages("s"), requests)
}
