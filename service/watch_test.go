package service_test

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
)

// watching is the client's side of a WatchSession.
type watching struct {
	t      testing.TB
	stream grpc.ServerStreamingClient[compactordv1.WatchSessionResponse]
	began  *compactordv1.WatchStarted
	// end cancels the call.
	end context.CancelFunc
}

// watch begins a watch and reads its first response.
func (d *daemon) watch(req *compactordv1.WatchSessionRequest) *watching {
	d.t.Helper()
	ctx, cancel := context.WithCancel(d.t.Context())
	d.t.Cleanup(cancel)
	stream, err := d.sessions.WatchSession(ctx, req)
	require.NoError(d.t, err)
	answer, err := stream.Recv()
	require.NoError(d.t, err)
	require.NotNil(d.t, answer.GetStarted(), "the first answer says that the watch has begun")
	return &watching{t: d.t, stream: stream, began: answer.GetStarted(), end: cancel}
}

// unread returns the daemon over a connection that buffers little: windows of 64 KiB that never grow.
func (d *daemon) unread() *daemon {
	d.t.Helper()
	const window = 64 << 10
	conn := d.connect(grpc.WithStaticStreamWindowSize(window), grpc.WithStaticConnWindowSize(4*window))
	d.t.Cleanup(func() { _ = conn.Close() })
	narrow := *d
	narrow.sessions = compactordv1.NewSessionServiceClient(conn)
	narrow.compactions = compactordv1.NewCompactionServiceClient(conn)
	return &narrow
}

// refused returns the error of a watch that must not send anything.
func (d *daemon) refused(req *compactordv1.WatchSessionRequest) error {
	d.t.Helper()
	stream, err := d.sessions.WatchSession(d.t.Context(), req)
	require.NoError(d.t, err)
	answer, err := stream.Recv()
	require.Error(d.t, err, "%v", answer)
	return err
}

// next returns the next response that is no heartbeat.
func (w *watching) next() *compactordv1.WatchSessionResponse {
	w.t.Helper()
	for {
		answer, err := w.stream.Recv()
		require.NoError(w.t, err)
		if answer.GetHeartbeat() == nil {
			return answer
		}
	}
}

// last reads to the end of the watch and returns its error.
func (w *watching) last() error {
	for {
		if _, err := w.stream.Recv(); err != nil {
			return err
		}
	}
}

// sequenceOf returns the sequence of a message or record; -1 for other responses.
func sequenceOf(answer *compactordv1.WatchSessionResponse) int {
	switch kind := answer.GetKind().(type) {
	case *compactordv1.WatchSessionResponse_Message:
		return int(kind.Message.GetSequence())
	case *compactordv1.WatchSessionResponse_Record:
		return int(kind.Record.GetSequence())
	default:
		return -1
	}
}

// logged returns the whole log as a watcher gets it, by sequence.
func (d *daemon) logged(id string) []*compactordv1.WatchSessionResponse {
	d.t.Helper()
	messages, records := d.messages(id), d.records(id)
	all := make([]*compactordv1.WatchSessionResponse, len(messages)+len(records))
	for _, l := range messages {
		all[l.GetSequence()] = &compactordv1.WatchSessionResponse{
			Kind: &compactordv1.WatchSessionResponse_Message{Message: l},
		}
	}
	for _, r := range records {
		all[r.GetSequence()] = &compactordv1.WatchSessionResponse{
			Kind: &compactordv1.WatchSessionResponse_Record{Record: r},
		}
	}
	return all
}

// requireLogged asserts that the responses are the log from a sequence on, each once and in order. The state of a
// message may have changed since it was sent, and only listings set put_aside of a record.
func requireLogged(t testing.TB, log []*compactordv1.WatchSessionResponse, from int, answers []*compactordv1.WatchSessionResponse) {
	t.Helper()
	// Equal ones are left out, since an exact comparison takes long.
	var want, got []*compactordv1.WatchSessionResponse
	for i, answer := range answers {
		require.Equal(t, from+i, sequenceOf(answer), "answer %d of a watch from %d", i, from)
		if logged := log[from+i]; !proto.Equal(logged, answer) {
			want, got = append(want, logged), append(got, answer)
		}
	}
	require.Empty(t, cmp.Diff(want, got, protocmp.Transform(),
		protocmp.IgnoreFields(&compactordv1.LoggedMessage{}, "state"),
		protocmp.IgnoreFields(&compactordv1.Record{}, "put_aside")))
}

// busy creates a session whose log alternates messages and records, and is longer than what is read at a time.
func (d *daemon) busy(id string) {
	d.t.Helper()
	d.create(id, small(1000))
	for i := range 130 {
		d.append(id, user(fmt.Sprintf("%d", i)))
		_, err := d.sessions.UpdateSession(d.t.Context(), &compactordv1.UpdateSessionRequest{
			SessionId: id, UpdateMask: mask("policy"), Policy: small(uint32(1000 + i)),
		})
		require.NoError(d.t, err)
	}
	d.append(id, working(10, 300_000)...)
}

func mostRecent(log []*compactordv1.WatchSessionResponse) uint32 { return uint32(len(log) - 1) }

// A watch from any sequence sends what exists, and then what is new.
func TestWatchFromEverySequence(t *testing.T) {
	t.Parallel()
	d := start(t)
	session := d.create("s", nil)
	d.append("s", user("a"), user("b"))
	_, err := d.sessions.RevertToCheckpoint(t.Context(), &compactordv1.RevertToCheckpointRequest{
		SessionId: "s", Target: &compactordv1.RevertToCheckpointRequest_Point{Point: 1},
	})
	require.NoError(t, err)
	d.append("s", user("c"))
	there := len(d.logged("s"))
	for from := range there + 1 {
		w := d.watch(&compactordv1.WatchSessionRequest{
			SessionId: "s", Uid: session.GetUid(), FromSequence: proto.Uint32(uint32(from)),
		})
		require.Empty(t, cmp.Diff(&compactordv1.WatchStarted{
			Uid: session.GetUid(), FromSequence: uint32(from), Point: mostRecent(d.logged("s")),
		}, w.began, protocmp.Transform()))
		d.append("s", user("more"), user("and more"))
		log := d.logged("s")
		var got []*compactordv1.WatchSessionResponse
		for range log[from:] {
			got = append(got, w.next())
		}
		requireLogged(t, log, from, got)
		w.end()
	}
}

// Without a sequence a watch sends only what is new. The client can say from where.
func TestWatchFromNow(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	d.append("s", user("a"))
	w := d.watch(&compactordv1.WatchSessionRequest{SessionId: "s"})
	require.Equal(t, uint32(2), w.began.GetFromSequence())
	require.Equal(t, uint32(1), w.began.GetPoint())
	d.append("s", user("b"))
	require.Equal(t, "b", w.next().GetMessage().GetMessage().GetParts()[0].GetText().GetText())
}

// Long logs are read in pages, whatever they contain, from any sequence.
func TestWatchReadsLongLogsInPages(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.busy("s")
	log := d.logged("s")
	for _, from := range []int{0, 1, 2, 99, 100, 101, 102, 199, 200, 201, 255, 256, 257, len(log) - 1} {
		w := d.watch(&compactordv1.WatchSessionRequest{SessionId: "s", FromSequence: proto.Uint32(uint32(from))})
		var got []*compactordv1.WatchSessionResponse
		for range log[from:] {
			got = append(got, w.next())
		}
		requireLogged(t, log, from, got)
		w.end()
	}
}

// Messages have their state, and no parts if the client does not want them.
func TestWatchedMessages(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", small(1000))
	d.append("s", working(10, 2000)...)
	_, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	want := d.messages("s")
	for _, without := range []bool{false, true} {
		w := d.watch(&compactordv1.WatchSessionRequest{
			SessionId: "s", FromSequence: proto.Uint32(1), WithoutContent: without,
		})
		states := make(map[compactordv1.MessageState]int)
		for _, l := range want {
			if without {
				l = proto.CloneOf(l)
				l.GetMessage().Parts = nil
			}
			got := w.next().GetMessage()
			require.Empty(t, cmp.Diff(l, got, protocmp.Transform()))
			states[got.GetState()]++
		}
		require.Len(t, states, 2, "active and covered")
		w.end()
	}
}

func TestWatchIsRefused(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	err := d.refused(&compactordv1.WatchSessionRequest{SessionId: "none"})
	requireReason(t, err, codes.NotFound, "SESSION_NOT_FOUND")
	err = d.refused(&compactordv1.WatchSessionRequest{SessionId: "s", Uid: "another incarnation"})
	requireReason(t, err, codes.NotFound, "SESSION_NOT_FOUND")
	for _, from := range []uint32{2, 1<<32 - 1} {
		err = d.refused(&compactordv1.WatchSessionRequest{SessionId: "s", FromSequence: proto.Uint32(from)})
		info := requireReason(t, err, codes.InvalidArgument, "POINT_OUT_OF_RANGE")
		require.Equal(t, "0", info.GetMetadata()["last_point"])
	}
}

// A watch ends with its session, and does not go on with another incarnation.
func TestWatchEndsWithItsSession(t *testing.T) {
	t.Parallel()
	d := start(t)
	session := d.create("s", nil)
	var watches []*watching
	for range 3 {
		watches = append(watches, d.watch(&compactordv1.WatchSessionRequest{SessionId: "s"}))
	}
	_, err := d.sessions.DeleteSession(t.Context(), &compactordv1.DeleteSessionRequest{SessionId: "s"})
	require.NoError(t, err)
	d.create("s", nil)
	for _, w := range watches {
		requireReason(t, w.last(), codes.NotFound, "SESSION_NOT_FOUND")
	}
	err = d.refused(&compactordv1.WatchSessionRequest{SessionId: "s", Uid: session.GetUid(), FromSequence: proto.Uint32(0)})
	requireReason(t, err, codes.NotFound, "SESSION_NOT_FOUND")
}

// It does not even where the daemon sees the new incarnation before the end of the old one.
func TestWatchEndsWithAnIncarnationThatAnotherDaemonDeleted(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	d.append("s", user("a"), user("b"))
	w := d.watch(&compactordv1.WatchSessionRequest{SessionId: "s"})
	other := start(t, withStore(&shared{d.store}))
	_, err := other.sessions.DeleteSession(t.Context(), &compactordv1.DeleteSessionRequest{SessionId: "s"})
	require.NoError(t, err)
	other.create("s", nil)
	// The log of the new incarnation is shorter than where the watch is.
	_, err = d.sessions.UpdateSession(t.Context(), &compactordv1.UpdateSessionRequest{
		SessionId: "s", UpdateMask: mask("title"), Title: "another incarnation",
	})
	require.NoError(t, err)
	requireReason(t, w.last(), codes.NotFound, "SESSION_NOT_FOUND")
}

// A watcher goes on where it was after a restart of the daemon.
func TestWatchGoesOnAfterARestart(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	d := start(t, withStore(openStore(t, path)))
	d.create("s", nil)
	w := d.watch(&compactordv1.WatchSessionRequest{SessionId: "s", FromSequence: proto.Uint32(0)})
	var got []*compactordv1.WatchSessionResponse
	d.append("s", user("a"), user("b"))
	got = append(got, w.next(), w.next())
	d.append("s", user("c"))
	d.stop()

	d = start(t, withStore(openStore(t, path)))
	d.append("s", user("d"))
	w = d.watch(&compactordv1.WatchSessionRequest{
		SessionId: "s", Uid: w.began.GetUid(), FromSequence: proto.Uint32(uint32(sequenceOf(got[len(got)-1]) + 1)),
	})
	log := d.logged("s")
	for len(got) < len(log) {
		got = append(got, w.next())
	}
	requireLogged(t, log, 0, got)
}

// Watchers do not delay the stop of a daemon: here it would wait for an hour.
func TestStopEndsWatchersAtOnce(t *testing.T) {
	t.Parallel()
	d := start(t, func(o *service.ServerOptions) { o.DrainTimeout = time.Hour })
	d.create("s", nil)
	var watches []*watching
	for range 3 {
		watches = append(watches, d.watch(&compactordv1.WatchSessionRequest{SessionId: "s", Events: true}))
	}
	d.shutdown()
	for _, w := range watches {
		requireReason(t, w.last(), codes.Unavailable, "SHUTTING_DOWN")
	}
}

// Writes of another daemon on the same store are sent at the next heartbeat.
func TestWatchSeesTheWritesOfOtherDaemons(t *testing.T) {
	t.Parallel()
	d := start(t, func(o *service.ServerOptions) { o.Heartbeat = time.Millisecond })
	d.create("s", nil)
	other := start(t, withStore(&shared{d.store}))
	w := d.watch(&compactordv1.WatchSessionRequest{SessionId: "s"})
	answer, err := w.stream.Recv()
	require.NoError(t, err)
	require.NotNil(t, answer.GetHeartbeat(), "there is nothing new")
	other.append("s", user("from over there"))
	require.Equal(t, 1, sequenceOf(w.next()))
}

// An inline history is no session of the store, whatever its internal name.
func TestHistoriesAreNotWatched(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("inline", nil)
	w := d.watch(&compactordv1.WatchSessionRequest{SessionId: "inline", Events: true})
	events, err := d.compact(&compactordv1.CompactRequest{
		Target: &compactordv1.CompactRequest_History{History: &compactordv1.InlineHistory{Messages: working(10, 2000)}},
		Policy: small(1000),
	})
	require.NoError(t, err)
	require.NotNil(t, last(t, events).GetCompleted())
	d.append("inline", user("hello"))
	require.NotNil(t, w.next().GetMessage())
}

// watchLog signals when a WatchSession has ended in the daemon.
type watchLog struct {
	slog.Handler
	ended chan struct{}
}

func newWatchLog() *watchLog {
	return &watchLog{Handler: slog.DiscardHandler, ended: make(chan struct{}, 10)}
}

func (*watchLog) Enabled(context.Context, slog.Level) bool { return true }

func (l *watchLog) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Value.String() == "WatchSession" {
			l.ended <- struct{}{}
		}
		return true
	})
	return nil
}

// A client that does not read gets an error that says where to go on, after what was sent before.
func TestWatcherThatDoesNotReadIsEnded(t *testing.T) {
	t.Parallel()
	log := newWatchLog()
	d := start(t, func(o *service.ServerOptions) {
		o.WatchReadTimeout = 20 * time.Millisecond
		o.Logger = slog.New(log)
	})
	d.create("s", nil)
	d.append("s", working(50, 20_000)...)
	all := d.logged("s")
	w := d.unread().watch(&compactordv1.WatchSessionRequest{SessionId: "s", FromSequence: proto.Uint32(0)})
	<-log.ended

	var got []*compactordv1.WatchSessionResponse
	var err error
	for err == nil {
		var answer *compactordv1.WatchSessionResponse
		if answer, err = w.stream.Recv(); err == nil {
			got = append(got, answer)
		}
	}
	info := requireReason(t, err, codes.ResourceExhausted, "WATCHER_TOO_SLOW")
	// The response that was being sent when the watch ended may have arrived.
	require.Contains(t, []string{fmt.Sprint(len(got)), fmt.Sprint(len(got) - 1)}, info.GetMetadata()["next_sequence"])
	require.Less(t, len(got), len(all))
	patient := start(t, withStore(&shared{d.store}))
	w = patient.watch(&compactordv1.WatchSessionRequest{SessionId: "s", FromSequence: proto.Uint32(uint32(len(got)))})
	for len(got) < len(all) {
		got = append(got, w.next())
	}
	requireLogged(t, all, 0, got)
}

// Seed case 173: a watcher that fails, or does not keep up with the events of a compaction, affects neither the
// compaction nor the others.
func TestCase173WatcherThatDoesNotKeepUpHarmsNobody(t *testing.T) {
	t.Parallel()
	const events = 3000
	log := newWatchLog()
	d := start(t, func(o *service.ServerOptions) {
		o.WatchQueue = events
		o.Logger = slog.New(log)
	}, withSummarizer(&scripted{name: "wordy", do: inDeltas(2*events, 1000)}))
	d.create("s", by("wordy", noFallback, small(1000)))
	d.append("s", working(10, 2000)...)
	gone := d.watch(&compactordv1.WatchSessionRequest{SessionId: "s", Events: true})
	gone.end()
	<-log.ended
	stuck := d.unread().watch(&compactordv1.WatchSessionRequest{SessionId: "s", Events: true})
	reads := d.watch(&compactordv1.WatchSessionRequest{SessionId: "s"})

	told, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	requireGrammar(t, told)
	require.NotNil(t, last(t, told).GetCompleted())
	require.NotNil(t, reads.next().GetRecord().GetCompaction())
	<-log.ended
	info := requireReason(t, stuck.last(), codes.ResourceExhausted, "WATCHER_TOO_SLOW")
	from := info.GetMetadata()["next_sequence"]
	require.Contains(t, []string{"42", "43"}, from, "before the entry, or after it")
	require.ErrorContains(t, stuck.last(), "faster than they were read")
}

// A watcher that vanishes, with its connection or without, leaves nothing behind. Otherwise the daemon would not stop.
func TestVanishedWatchers(t *testing.T) {
	t.Parallel()
	log := newWatchLog()
	d := start(t, func(o *service.ServerOptions) {
		o.DrainTimeout = time.Hour
		o.Logger = slog.New(log)
	})
	d.create("s", nil)
	d.append("s", working(50, 20_000)...)
	w := d.unread().watch(&compactordv1.WatchSessionRequest{SessionId: "s", FromSequence: proto.Uint32(0), Events: true})
	w.end()
	<-log.ended
	conn := d.dial()
	stream, err := compactordv1.NewSessionServiceClient(conn).WatchSession(t.Context(),
		&compactordv1.WatchSessionRequest{SessionId: "s"})
	require.NoError(t, err)
	_, err = stream.Recv()
	require.NoError(t, err)
	require.NoError(t, conn.Close())
	<-log.ended
	require.Equal(t, codes.Canceled, statusCode(w.last()))
	d.append("s", user("nobody listens"))
}
