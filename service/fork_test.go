package service_test

import (
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/session/sessiontest"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/memory"
)

func (d *daemon) fork(req *compactordv1.ForkSessionRequest) *compactordv1.ForkSessionResponse {
	d.t.Helper()
	answer, err := d.sessions.ForkSession(d.t.Context(), req)
	require.NoError(d.t, err)
	return answer
}

// lived creates a session s with a record of every kind, all of it put aside and partly brought back.
func lived(d *daemon) {
	_, err := d.sessions.CreateSession(d.t.Context(), &compactordv1.CreateSessionRequest{
		SessionId: "s", Policy: small(1000), Labels: map[string]string{"team": "blue"}, Title: "The parser",
	})
	require.NoError(d.t, err)
	d.append("s", working(4, 2000)...)
	d.checkpoint("s", true)
	_, err = d.compactions.Prune(d.t.Context(), &compactordv1.PruneRequest{
		Target: &compactordv1.PruneRequest_SessionId{SessionId: "s"}, Policy: hideAllBut(2),
	})
	require.NoError(d.t, err)
	d.append("s", working(3, 2000)[1:]...)
	_, err = d.compact(compactRequest("s", nil))
	require.NoError(d.t, err)
	d.append("s", user("more"), assistant("", call("x", "read", `{}`)), toolResult("x", "y"))
	mail := toCheckpoint(1)
	mail.MessageFromFuture = "do it otherwise"
	d.revert(mail)
	d.append("s", working(2, 2000)[1:]...)
}

// A fork at any point is what the session was there: log, records, views in every dialect, and figures.
func TestForkIsTheSessionAsOfThePoint(t *testing.T) {
	t.Parallel()
	for name, store := range map[string]storage.Store{
		"bolt": openStore(t, filepath.Join(t.TempDir(), "store.db")), "memory": memory.New(),
	} {
		t.Run(name, func(t *testing.T) {
			d := start(t, withStore(store))
			lived(d)
			source := d.session("s").GetSession()
			messages, records := d.messages("s"), d.records("s")
			for point := range source.GetPoint() + 1 {
				fork := d.fork(&compactordv1.ForkSessionRequest{
					SessionId: "s", At: &compactordv1.ForkSessionRequest_Point{Point: point},
				}).GetSession()
				require.Equal(t, point, fork.GetPoint())
				require.NotEqual(t, source.GetUid(), fork.GetUid())
				require.True(t, proto.Equal(&compactordv1.ForkOrigin{
					SessionId: "s", Uid: source.GetUid(), Point: point,
				}, fork.GetForkedFrom()))
				require.Equal(t, "The parser", fork.GetTitle())
				require.Equal(t, "blue", fork.GetLabels()["team"])
				requireSameBytes(t, d.asOf(point), d.view(fork.GetSessionId()))
				d.requireSameRendered(t, fork.GetSessionId(), point)
				for i, l := range d.messages(fork.GetSessionId()) {
					l.State, messages[i].State = 0, 0
					require.Equal(t, sessiontest.Bytes(messages[i]), sessiontest.Bytes(l))
				}
				for i, r := range d.records(fork.GetSessionId()) {
					r.PutAside, records[i].PutAside = false, false
					require.Equal(t, sessiontest.Bytes(records[i]), sessiontest.Bytes(r))
				}
			}
			d.requireSound(t)
		})
	}
}

// requireSameRendered asserts that a fork renders like session s at the point.
func (d *daemon) requireSameRendered(t *testing.T, fork string, point uint32) {
	t.Helper()
	for _, kind := range allKinds() {
		req := viewRequest()
		req.Dialect, req.AsOf = kind, proto.Uint32(point)
		want, wantErr := d.compactions.GetLLMView(t.Context(), req)
		req.Target = &compactordv1.GetLLMViewRequest_SessionId{SessionId: fork}
		req.AsOf = nil
		have, haveErr := d.compactions.GetLLMView(t.Context(), req)
		require.Equal(t, statusCode(wantErr), statusCode(haveErr))
		require.Equal(t, want.GetMessagesJson(), have.GetMessagesJson())
		require.Equal(t, want.GetSystemJson(), have.GetSystemJson())
	}
}

// Fork and source are independent: neither sees the other's changes. The fork has what the request sets.
func TestForkIsIndependent(t *testing.T) {
	t.Parallel()
	d := start(t)
	lived(d)
	d.requireUnchanged(t, func() {
		answer := d.fork(&compactordv1.ForkSessionRequest{
			SessionId: "s", At: &compactordv1.ForkSessionRequest_CheckpointId{CheckpointId: 1}, NewSessionId: "f",
			Policy: &compactordv1.Policy{ContextWindow: proto.Uint32(50_000)}, Title: "Another try",
			Labels: map[string]string{"team": "red"},
		})
		fork := answer.GetSession()
		require.Equal(t, "f", fork.GetSessionId())
		require.Equal(t, "Another try", fork.GetTitle())
		require.Equal(t, map[string]string{"team": "red"}, fork.GetLabels())
		require.Equal(t, uint32(50_000), fork.GetResolvedPolicy().GetContextWindow())
		require.Equal(t, uint32(1), fork.GetLastCheckpoint())
		require.Equal(t, fork.GetForkedFrom().GetPoint()+1, d.lastRecord("f").GetSequence())
		require.NotNil(t, d.lastRecord("f").GetPolicyChange())
		require.Equal(t, uint32(50_000), answer.GetReport().GetContextWindow())
		requireSameBytes(t, d.asOf(fork.GetForkedFrom().GetPoint()), d.view("f"))
		d.append("f", user("only here"))
		_, err := d.compact(compactRequest("f", small(100)))
		require.NoError(t, err)
		_, err = d.sessions.ClearSession(t.Context(), &compactordv1.ClearSessionRequest{SessionId: "f"})
		require.NoError(t, err)
	})
	require.Equal(t, uint32(2), d.fork(&compactordv1.ForkSessionRequest{
		SessionId: "f", At: &compactordv1.ForkSessionRequest_Point{Point: 1},
	}).GetSession().GetPoint()+1, "a fork can be forked")
	_, err := d.sessions.DeleteSession(t.Context(), &compactordv1.DeleteSessionRequest{SessionId: "s"})
	require.NoError(t, err)
	require.NotEmpty(t, d.messages("f"), "it needs nothing of the session that it was forked from")
	d.requireSound(t)
}

// A fork has the policy of its point.
func TestForkHasThePolicyOfThePoint(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", small(1000))
	d.append("s", user("first"))
	point := d.session("s").GetSession().GetPoint()
	policy := small(1000)
	policy.ContextWindow = proto.Uint32(99_000)
	_, err := d.sessions.UpdateSession(t.Context(), &compactordv1.UpdateSessionRequest{
		SessionId: "s", UpdateMask: mask("policy"), Policy: policy,
	})
	require.NoError(t, err)
	then := d.fork(&compactordv1.ForkSessionRequest{
		SessionId: "s", At: &compactordv1.ForkSessionRequest_Point{Point: point},
	}).GetSession()
	require.Equal(t, uint32(20_000), then.GetPolicy().GetContextWindow())
	require.Equal(t, uint32(20_000), then.GetResolvedPolicy().GetContextWindow())
	now := d.fork(&compactordv1.ForkSessionRequest{SessionId: "s"}).GetSession()
	require.Equal(t, uint32(99_000), now.GetResolvedPolicy().GetContextWindow())
}

// A fork has its own creation time.
func TestForkHasItsOwnTimes(t *testing.T) {
	t.Parallel()
	var hours atomic.Int64
	begun := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	d := start(t, withHooks(service.Hooks{Now: func() time.Time {
		return begun.Add(time.Duration(hours.Load()) * time.Hour)
	}}))
	d.create("s", nil)
	d.append("s", user("first"))
	hours.Store(5)
	fork := d.fork(&compactordv1.ForkSessionRequest{SessionId: "s"}).GetSession()
	require.Equal(t, begun.Add(5*time.Hour), fork.GetCreatedAt().AsTime())
	require.Equal(t, begun.Add(5*time.Hour), fork.GetChangedAt().AsTime())
	require.Equal(t, begun, d.session("s").GetSession().GetCreatedAt().AsTime())
}

// A fork of something that does not exist is refused with its name, and creates no session.
func TestForkOfNothing(t *testing.T) {
	t.Parallel()
	d := start(t)
	lived(d)
	d.revert(toPoint(1))
	for name, c := range map[string]struct {
		change func(*compactordv1.ForkSessionRequest)
		code   codes.Code
		reason string
	}{
		"no session": {func(r *compactordv1.ForkSessionRequest) { r.SessionId = "nobody" }, codes.NotFound, "SESSION_NOT_FOUND"},
		"no point": {func(r *compactordv1.ForkSessionRequest) {
			r.At = &compactordv1.ForkSessionRequest_Point{Point: 1000}
		}, codes.InvalidArgument, "POINT_OUT_OF_RANGE"},
		"no checkpoint": {func(r *compactordv1.ForkSessionRequest) {
			r.At = &compactordv1.ForkSessionRequest_CheckpointId{CheckpointId: 2}
		}, codes.NotFound, "CHECKPOINT_NOT_FOUND"},
		"checkpoint put aside": {func(r *compactordv1.ForkSessionRequest) {
			r.At = &compactordv1.ForkSessionRequest_CheckpointId{CheckpointId: 1}
		}, codes.FailedPrecondition, "CHECKPOINT_PUT_ASIDE"},
		"bad policy": {func(r *compactordv1.ForkSessionRequest) {
			r.Policy = &compactordv1.Policy{Preset: proto.String("nobody")}
		}, codes.InvalidArgument, "UNKNOWN_NAME"},
	} {
		t.Run(name, func(t *testing.T) {
			req := &compactordv1.ForkSessionRequest{SessionId: "s", NewSessionId: "f"}
			c.change(req)
			_, err := d.sessions.ForkSession(t.Context(), req)
			requireReason(t, err, c.code, c.reason)
			_, err = d.sessions.GetSession(t.Context(), &compactordv1.GetSessionRequest{SessionId: "f"})
			requireReason(t, err, codes.NotFound, "SESSION_NOT_FOUND")
		})
	}
	again := &compactordv1.ForkSessionRequest{SessionId: "s", NewSessionId: "f", RequestId: "r"}
	first := d.fork(again)
	_, err := d.sessions.ForkSession(t.Context(), &compactordv1.ForkSessionRequest{SessionId: "s", NewSessionId: "f"})
	requireReason(t, err, codes.AlreadyExists, "SESSION_EXISTS")
	_, err = d.sessions.DeleteSession(t.Context(), &compactordv1.DeleteSessionRequest{SessionId: "s"})
	require.NoError(t, err)
	require.True(t, proto.Equal(first, d.fork(again)), "sent again, it needs no source")
}
