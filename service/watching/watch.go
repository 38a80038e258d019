package watching

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/storage"
)

// endTimeout is how long a client may take to receive the last response before its watch ends.
const endTimeout = 2 * time.Second

// Watching serves WatchSession.
type Watching struct {
	Logs     *sessionlog.Logs
	Watchers *Watchers
	// Heartbeat is how long a stream may be silent.
	Heartbeat time.Duration
	// ReadTimeout is how long a client may leave a response unread before it counts as too slow.
	ReadTimeout time.Duration
	// Queue is how many events of compactions may wait for a watcher. With more it counts as too slow.
	Queue int
}

// Watch sends what is new in a session until the watch has to end, and returns the reason.
func (s *Watching) Watch(
	req *compactordv1.WatchSessionRequest, stream grpc.ServerStreamingServer[compactordv1.WatchSessionResponse],
) error {
	ctx := stream.Context()
	row, err := s.Logs.Row(ctx, req.GetSessionId())
	if err != nil {
		return err
	}
	if req.GetUid() != "" && req.GetUid() != row.GetUid() {
		return apierror.SessionNotFound(req.GetSessionId())
	}
	from, err := watchedFrom(req, row.GetHead())
	if err != nil {
		return err
	}
	log, err := s.Logs.NewReader(ctx, row, from)
	if err != nil {
		return err
	}
	events := 0
	if req.GetEvents() {
		events = s.Queue
	}
	name := sessionlog.NameOf(ctx, req.GetSessionId())
	joined, err := s.Watchers.join(name, storage.RefOf(row), events)
	if err != nil {
		return err
	}
	defer s.Watchers.leave(name, joined)
	w := &watch{
		watching: s, req: req, log: log, watcher: joined,
		sends: make(chan *compactordv1.WatchSessionResponse), sent: make(chan struct{}),
		readTimer: time.NewTimer(s.ReadTimeout), heartbeat: time.NewTicker(s.Heartbeat),
	}
	w.undelivered.Store(from)
	defer w.readTimer.Stop()
	defer w.heartbeat.Stop()
	go w.sendAll(stream)
	err = w.run(ctx, row)
	close(w.sends)
	return w.finish(ctx, err)
}

// watchedFrom returns the first sequence to send.
func watchedFrom(req *compactordv1.WatchSessionRequest, h *storagev1.Head) (uint32, error) {
	switch next := h.GetNextSequence(); {
	case req.FromSequence == nil:
		return next, nil
	case req.GetFromSequence() > next:
		return 0, apierror.PointOutOfRange("from_sequence", req.GetFromSequence(), session.Point(h))
	default:
		return req.GetFromSequence(), nil
	}
}

const overrunText = "events of compactions came faster than they were read"

// watch is one WatchSession.
type watch struct {
	watching *Watching
	req      *compactordv1.WatchSessionRequest
	log      *sessionlog.Reader
	watcher  *watcher

	// sends goes to the goroutine that sends. A Send to a client that does not read blocks until the call ends, so it
	// needs a goroutine of its own. sent is closed when that goroutine has ended. Then sendErr is its error, or nil where
	// sends was closed.
	sends   chan *compactordv1.WatchSessionResponse
	sent    chan struct{}
	sendErr error
	// begun has the compactions of other daemons that the client knows to run.
	begun []string
	// undelivered is the first sequence that may not have reached the client.
	undelivered atomic.Uint32
	// readTimer fires where the client leaves a response unread.
	readTimer *time.Timer
	heartbeat *time.Ticker
}

// sendAll sends the responses until sends is closed or the client is gone.
func (w *watch) sendAll(stream grpc.ServerStreamingServer[compactordv1.WatchSessionResponse]) {
	defer close(w.sent)
	for answer := range w.sends {
		if w.sendErr = stream.Send(answer); w.sendErr != nil {
			return
		}
		switch kind := answer.GetKind().(type) {
		case *compactordv1.WatchSessionResponse_Message:
			w.undelivered.Store(kind.Message.GetSequence() + 1)
		case *compactordv1.WatchSessionResponse_Record:
			w.undelivered.Store(kind.Record.GetSequence() + 1)
		}
	}
}

// run sends until the watch has to end, and returns the reason.
func (w *watch) run(ctx context.Context, row *storagev1.Session) error {
	err := w.send(ctx, &compactordv1.WatchSessionResponse{Kind: &compactordv1.WatchSessionResponse_Started{
		Started: &compactordv1.WatchStarted{
			Uid: row.GetUid(), FromSequence: w.log.Next(), Point: session.Point(row.GetHead()),
		},
	}})
	if err != nil {
		return err
	}
	// The session may have changed before this watcher joined.
	for look := true; ; {
		if look {
			if err := w.catchUp(ctx); err != nil {
				return err
			}
		}
		if look, err = w.wait(ctx); err != nil {
			return err
		}
	}
}

// wait returns true when the log may have grown, or false after it has sent an event or a heartbeat.
func (w *watch) wait(ctx context.Context) (look bool, err error) {
	select {
	case <-w.watcher.changed:
		return true, nil
	case e := <-w.watcher.events:
		return false, w.sendEvent(ctx, e)
	case <-w.heartbeat.C:
		// Poll may have failed.
		before := w.log.Next()
		if err := w.catchUp(ctx); err != nil || w.log.Next() != before {
			return false, err
		}
		return false, w.send(ctx, &compactordv1.WatchSessionResponse{
			Kind: &compactordv1.WatchSessionResponse_Heartbeat{Heartbeat: &compactordv1.Heartbeat{}},
		})
	case <-w.sent:
		return false, w.sendErr
	case <-w.watcher.overrun:
		return false, &tooSlowError{overrunText}
	case <-w.watching.Watchers.ended:
		return false, apierror.ErrShuttingDown
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
}

// catchUp sends what the log has, and the events that come meanwhile.
func (w *watch) catchUp(ctx context.Context) error {
	row, err := w.watching.Logs.Row(ctx, w.req.GetSessionId())
	if err != nil {
		return err
	}
	if row.GetUid() != w.log.UID() {
		return apierror.SessionNotFound(w.req.GetSessionId())
	}
	if err := w.sendBegun(ctx, row); err != nil {
		return err
	}
	for {
		message, record, err := w.log.Read(ctx, row.GetHead())
		switch {
		case errors.Is(err, storage.ErrNotFound):
			return apierror.SessionNotFound(w.req.GetSessionId())
		case err != nil:
			return err
		case message != nil:
			err = w.sendMessage(ctx, message)
		case record != nil:
			err = w.send(ctx, &compactordv1.WatchSessionResponse{
				Kind: &compactordv1.WatchSessionResponse_Record{Record: record},
			})
		default:
			return nil
		}
		if err == nil {
			err = w.sendEvents(ctx)
		}
		if err != nil {
			return err
		}
	}
}

// sendEvents sends the waiting events.
func (w *watch) sendEvents(ctx context.Context) error {
	for {
		select {
		case e := <-w.watcher.events:
			if err := w.sendEvent(ctx, e); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

func (w *watch) sendMessage(ctx context.Context, l *compactordv1.LoggedMessage) error {
	if w.req.GetWithoutContent() {
		l.GetMessage().Parts = nil
	}
	return w.send(ctx, &compactordv1.WatchSessionResponse{
		Kind: &compactordv1.WatchSessionResponse_Message{Message: l},
	})
}

func (w *watch) sendEvent(ctx context.Context, e *compactordv1.CompactionEvent) error {
	return w.send(ctx, &compactordv1.WatchSessionResponse{
		Kind: &compactordv1.WatchSessionResponse_Event{Event: e},
	})
}

// send passes a response to the sending goroutine, after that has sent the one before.
func (w *watch) send(ctx context.Context, answer *compactordv1.WatchSessionResponse) error {
	w.readTimer.Reset(w.watching.ReadTimeout)
	select {
	case w.sends <- answer:
		w.heartbeat.Reset(w.watching.Heartbeat)
		return nil
	case <-w.sent:
		return w.sendErr
	case <-w.readTimer.C:
		return &tooSlowError{"an answer was left unread for " + w.watching.ReadTimeout.String()}
	case <-w.watcher.overrun:
		return &tooSlowError{overrunText}
	case <-w.watching.Watchers.ended:
		return apierror.ErrShuttingDown
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// finish waits until the last response is sent. For a watcher that is too slow, it returns an error that says where to
// go on.
func (w *watch) finish(ctx context.Context, why error) error {
	w.readTimer.Reset(min(w.watching.ReadTimeout, endTimeout))
	select {
	case <-w.sent:
	case <-w.readTimer.C:
	case <-ctx.Done():
	}
	var slow *tooSlowError
	if !errors.As(why, &slow) {
		return why
	}
	next := w.undelivered.Load()
	return apierror.New(compactordv1.ErrorReason_ERROR_REASON_WATCHER_TOO_SLOW,
		map[string]string{"next_sequence": strconv.FormatUint(uint64(next), 10)},
		"%s: go on from sequence %d", slow.why, next)
}

// tooSlowError ends a watch whose client does not keep up.
type tooSlowError struct{ why string }

func (t *tooSlowError) Error() string { return t.why }
