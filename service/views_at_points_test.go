package service_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/sessiontest"
	"github.com/compactord/compactord/storage/memory"
)

// With a real server: whatever was done to a session, the view after a revert to a point, the view of a fork at it and
// the view at the point are the same bytes.
func TestViewsOfAPointAreTheSame(t *testing.T) {
	t.Parallel()
	d := start(t, withStore(memory.New()))
	exists := false
	rapid.Check(t, func(rt *rapid.T) {
		if exists {
			_, err := d.sessions.DeleteSession(t.Context(), &compactordv1.DeleteSessionRequest{SessionId: "s"})
			require.NoError(t, err)
		}
		exists = true
		d.create("s", small(300))
		d.append("s", system("rules"))
		for step := range between(rt, 5, 25, "steps") {
			d.step(rt, step)
		}
		d.requireSound(t)
	})
}

// step does something drawn to session s.
func (d *daemon) step(rt *rapid.T, step int) {
	switch n := between(rt, 0, 99, "step"); {
	case n < 45:
		d.append("s", working(between(rt, 1, 2, "turns"), between(rt, 10, 1500, "characters"))[1:]...)
	case n < 53:
		_, err := d.compact(compactRequest("s", nil))
		require.NoError(d.t, err)
	case n < 58:
		_, err := d.compactions.Prune(d.t.Context(), &compactordv1.PruneRequest{
			Target: &compactordv1.PruneRequest_SessionId{SessionId: "s"}, Policy: hideAllBut(1),
		})
		require.NoError(d.t, err)
	case n < 66:
		_, err := d.sessions.CreateCheckpoint(d.t.Context(), &compactordv1.CreateCheckpointRequest{
			SessionId: "s", Announce: between(rt, 0, 1, "announce") == 1,
		})
		if err != nil {
			// After a revert, calls can be open.
			requireReason(d.t, err, codes.FailedPrecondition, "TOOL_CALLS_OPEN")
		}
	case n < 69:
		_, err := d.sessions.ClearSession(d.t.Context(), &compactordv1.ClearSessionRequest{SessionId: "s"})
		require.NoError(d.t, err)
	case n < 75:
		d.forkAt(uint32(between(rt, 0, int(d.session("s").GetSession().GetPoint()), "fork at")))
	default:
		d.revertTo(rt, step)
	}
}

// forkAt forks at a point, and compares the fork with it.
func (d *daemon) forkAt(point uint32) {
	fork := d.fork(&compactordv1.ForkSessionRequest{
		SessionId: "s", At: &compactordv1.ForkSessionRequest_Point{Point: point},
	}).GetSession().GetSessionId()
	requireSameBytes(d.t, d.asOf(point), d.view(fork))
	_, err := d.sessions.DeleteSession(d.t.Context(), &compactordv1.DeleteSessionRequest{SessionId: fork})
	require.NoError(d.t, err)
}

// revertTo reverts to a drawn target, and compares the view with that of the point.
func (d *daemon) revertTo(rt *rapid.T, step int) {
	point := uint32(between(rt, 0, int(d.session("s").GetSession().GetPoint()), "point"))
	req := []*compactordv1.RevertToCheckpointRequest{
		toPoint(point), undo(), turnsBack(1), toCheckpoint(d.session("s").GetSession().GetLastCheckpoint()),
	}[between(rt, 0, 3, "target")]
	if between(rt, 0, 2, "mail") == 0 {
		req.MessageFromFuture = fmt.Sprintf("mail %d", step)
	}
	before, err := d.store.Session(d.t.Context(), "", "s")
	require.NoError(d.t, err)
	answer, err := d.sessions.RevertToCheckpoint(d.t.Context(), req)
	if err != nil {
		after, readErr := d.store.Session(d.t.Context(), "", "s")
		require.NoError(d.t, readErr)
		require.True(d.t, proto.Equal(before, after), "refused, and written all the same: %v", err)
		return
	}
	view := d.view("s")
	if answer.GetRecord() == nil {
		require.Equal(d.t, before.GetHead().GetNextSequence()-1, answer.GetPoint())
		requireSameBytes(d.t, d.asOf(answer.GetPoint()), view)
		return
	}
	if revert := answer.GetRecord().GetRevert(); revert.FutureIndex != nil {
		require.Contains(d.t, textOf(view[len(view)-1].GetMessage()), req.GetMessageFromFuture())
		view = view[:len(view)-1]
	}
	want := d.asOf(answer.GetRecord().GetRevert().GetPoint())
	require.Len(d.t, view, len(want)+repairs(view)-repairs(want))
	for i := range want {
		require.Equal(d.t, sessiontest.Bytes(want[i]), sessiontest.Bytes(view[i]))
	}
}

// repairs counts the results that the view adds. A message that is sent back closes the calls that are open at the
// point.
func repairs(view []*compactordv1.ViewMessage) int {
	count := 0
	for _, vm := range view {
		if vm.GetLogRepair() != nil {
			count++
		}
	}
	return count
}
