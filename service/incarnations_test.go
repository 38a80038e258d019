package service_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
)

// recreate has another daemon on the same store delete session s and create it again, with a log of the same shape.
// That does not end the first daemon's compactions of the old incarnation, where its store is alone.
func recreate(d *daemon, policy *compactordv1.Policy) {
	d.t.Helper()
	other := start(d.t, withStore(&shared{d.store}))
	other.delete("s")
	other.create("s", policy)
	other.append("s", working(10, 2000)...)
}

// A compaction writes nothing to another incarnation of its session, neither its result nor an attempt, and that one's
// watchers get none of its events.
func TestNewIncarnationGetsNothingOfTheOldOnesCompaction(t *testing.T) {
	t.Parallel()
	held := newStops()
	d := start(t, withStore(alone{newStore(t)}), held.option())
	d.create("s", small(1000))
	d.append("s", working(10, 2000)...)
	ended := make(chan error, 1)
	go func() {
		_, err := d.compact(detached("s"))
		ended <- err
	}()
	<-held.reached
	recreate(d, small(1000))
	w := d.watch(&compactordv1.WatchSessionRequest{SessionId: "s", Events: true})
	d.requireUnchanged(t, func() {
		close(held.release)
		requireReason(t, <-ended, codes.Aborted, "STATE_CHANGED")
	})
	for _, text := range []string{"one", "two"} {
		// A waiting event comes before the message or right after it.
		d.append("s", user(text))
		require.Equal(t, text, textOf(w.next().GetMessage().GetMessage()))
	}
	completed, attempts := d.ends("s")
	require.Zero(t, completed+attempts)
}

// A compaction that waits for its turn when its session is deleted does not start in the new incarnation.
func TestCompactionThatWaitedForTheOldIncarnation(t *testing.T) {
	t.Parallel()
	reached, preempted, release := make(chan struct{}), make(chan struct{}), make(chan struct{})
	d := start(t, withHooks(service.Hooks{BeforeCommit: func(ctx context.Context) {
		close(reached)
		<-ctx.Done()
		close(preempted)
		<-release
	}}))
	d.create("s", small(1000))
	d.append("s", working(10, 2000)...)
	first, second := make(chan error, 1), make(chan error, 1)
	compact := func(ended chan<- error) {
		req := compactRequest("s", nil)
		req.Preempt = true
		_, err := d.compact(req)
		ended <- err
	}
	go compact(first)
	<-reached
	go compact(second)
	<-preempted
	recreate(d, small(1000))
	close(release)
	requireReason(t, <-first, codes.Canceled, "CANCELLED")
	requireReason(t, <-second, codes.Aborted, "STATE_CHANGED")
	completed, attempts := d.ends("s")
	require.Zero(t, completed+attempts)
}

// A session that was created again does not wait for a compaction of its old incarnation.
func TestCompactionOfAnOldIncarnationDelaysNothing(t *testing.T) {
	t.Parallel()
	g := newGate()
	d := start(t, withHooks(service.Hooks{BeforePlan: g.hold}))
	d.create("s", small(1000))
	d.append("s", working(10, 2000)...)
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error, 1)
	go func() {
		_, err := d.compactCtx(ctx, compactRequest("s", nil))
		first <- err
	}()
	<-g.reached
	_, err := d.sessions.DeleteSession(t.Context(), &compactordv1.DeleteSessionRequest{SessionId: "s"})
	require.NoError(t, err)
	d.create("s", small(1000))
	d.append("s", working(10, 2000)...)
	events, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	require.NotNil(t, last(t, events).GetCompleted())
	cancel()
	require.Error(t, <-first)
}
