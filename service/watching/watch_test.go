package watching_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/service/watching"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/memory"
	"github.com/compactord/compactord/strategies"
)

// watched is a store with sessions that clients watch.
type watched struct {
	t        *testing.T
	logs     *sessionlog.Logs
	watching *watching.Watching
}

// start must be called in a bubble of synctest.
func start(t *testing.T) *watched {
	t.Helper()
	return startOn(t, memory.New())
}

// startOn is start on a store.

func startOn(t *testing.T, store storage.Store) *watched {
	t.Helper()
	watchers, err := watching.NewWatchers(nil)
	require.NoError(t, err)
	logs := sessionlog.New(sessionlog.Options{
		Store: store, Logger: slog.New(slog.DiscardHandler), Now: time.Now, Wrote: watchers.Wake,
	})
	t.Cleanup(watchers.Close)
	return &watched{t: t, logs: logs, watching: &watching.Watching{
		Logs: logs, Watchers: watchers, Heartbeat: time.Minute, ReadTimeout: time.Minute, Queue: 10,
	}}
}

// create creates a session and returns its uid.
func (w *watched) create(id string) string {
	w.t.Helper()
	policy, err := strategies.Resolve()
	require.NoError(w.t, err)
	next, err := w.logs.BeginSession(w.t.Context(), id, compactordv1.Estimator_ESTIMATOR_CHARS4, nil, policy)
	require.NoError(w.t, err)
	require.NoError(w.t, w.logs.Create(w.t.Context(), next))
	return next.Row().GetUid()
}

// append appends a message in one write.
func (w *watched) append(id string) {
	w.t.Helper()
	err := w.logs.Update(w.t.Context(), id, func(row *storagev1.Session) (*sessionlog.Write, error) {
		next := w.logs.Begin(row)
		_, err := next.AppendOwn(w.t.Context(), &compactordv1.Message{
			Role: compactordv1.Role_ROLE_USER, Parts: []*compactordv1.Part{session.TextPart("Go on.")},
		})
		return next, err
	})
	require.NoError(w.t, err)
}

// watch begins a watch and reads its first response.
func (w *watched) watch(req *compactordv1.WatchSessionRequest) *stream {
	w.t.Helper()
	s := &stream{t: w.t, answers: make(chan *compactordv1.WatchSessionResponse, 100)}
	go func() { _ = w.watching.Watch(req, s) }()
	require.NotNil(w.t, s.next().GetStarted())
	return s
}

// stream is a client's stream that buffers the responses.
type stream struct {
	grpc.ServerStream

	t       *testing.T
	answers chan *compactordv1.WatchSessionResponse
}

// Context returns the context of the call.
func (s *stream) Context() context.Context { return s.t.Context() }

// Send buffers a response.
func (s *stream) Send(answer *compactordv1.WatchSessionResponse) error {
	s.answers <- answer
	return nil
}

// next waits for the next response.
func (s *stream) next() *compactordv1.WatchSessionResponse { return <-s.answers }

// now returns the responses that have come without any time passing.
func (s *stream) now() []*compactordv1.WatchSessionResponse {
	synctest.Wait()
	var all []*compactordv1.WatchSessionResponse
	for len(s.answers) > 0 {
		all = append(all, <-s.answers)
	}
	return all
}

// One write wakes all watchers of its session at once, and no others.
func TestAWriteWakesAllWatchersOfItsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := start(t)
		w.create("s")
		w.create("other")
		watchers := make([]*stream, 5)
		for i := range watchers {
			watchers[i] = w.watch(&compactordv1.WatchSessionRequest{SessionId: "s"})
		}
		other := w.watch(&compactordv1.WatchSessionRequest{SessionId: "other"})
		synctest.Wait()
		for sequence := range uint32(3) {
			w.append("s")
			for i, each := range watchers {
				answers := each.now()
				require.Len(t, answers, 1, "watcher %d", i)
				require.Equal(t, sequence+1, answers[0].GetMessage().GetSequence())
			}
		}
		require.Empty(t, other.now())
	})
}

// An event reaches all watchers that want events of this incarnation of the session.
func TestAnEventReachesTheWatchersOfAnIncarnation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := start(t)
		uid := w.create("s")
		wanting := []*stream{
			w.watch(&compactordv1.WatchSessionRequest{SessionId: "s", Events: true}),
			w.watch(&compactordv1.WatchSessionRequest{SessionId: "s", Events: true}),
		}
		without := w.watch(&compactordv1.WatchSessionRequest{SessionId: "s"})
		name := sessionlog.NameOf(t.Context(), "s")
		w.watching.Watchers.Publish(name, "the incarnation before", &compactordv1.CompactionEvent{Number: 1})
		w.watching.Watchers.Publish(name, uid, &compactordv1.CompactionEvent{Number: 2})
		for i, each := range wanting {
			answers := each.now()
			require.Len(t, answers, 1, "watcher %d", i)
			require.Equal(t, uint32(2), answers[0].GetEvent().GetNumber())
		}
		require.Empty(t, without.now())
	})
}

// A heartbeat comes after a silence of exactly its length, which each response ends.
func TestHeartbeatsComeAfterSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := start(t)
		w.create("s")
		half := time.NewTimer(w.watching.Heartbeat / 2)
		began := time.Now()
		s := w.watch(&compactordv1.WatchSessionRequest{SessionId: "s"})
		<-half.C
		w.append("s")
		require.NotNil(t, s.next().GetMessage())
		for i := range 3 {
			require.NotNil(t, s.next().GetHeartbeat())
			require.Equal(t, w.watching.Heartbeat/2+time.Duration(i+1)*w.watching.Heartbeat, time.Since(began))
		}
	})
}
