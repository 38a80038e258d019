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

// farewellTimeout is how long a client may take to hear how its watch ended.
const farewellTimeout = 2 * time.Second

// Watching serves watches.
type Watching struct {
	Logs     *sessionlog.Logs
	Watchers *Watchers
	// Heartbeat is how long a stream may be silent.
	Heartbeat time.Duration
	// Patience is how long a client may leave an answer unread before it counts as too slow.
	Patience time.Duration
	// Queue is how many events of compactions may wait for a watcher before it counts as too slow.
	Queue int
}

// Watch sends what is new of a session until it has to end, and returns why.
func (o *Watching) Watch(
	req *compactordv1.WatchSessionRequest, stream grpc.ServerStreamingServer[compactordv1.WatchSessionResponse],
) error {
	ctx := stream.Context()
	row, err := o.Logs.Row(ctx, req.GetSessionId())
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
	log, err := o.Logs.NewReader(ctx, row, from)
	if err != nil {
		return err
	}
	events := 0
	if req.GetEvents() {
		events = o.Queue
	}
	name := sessionlog.NameOf(ctx, req.GetSessionId())
	joined, err := o.Watchers.join(name, row.GetUid(), events)
	if err != nil {
		return err
	}
	defer o.Watchers.leave(name, joined)
	w := &watch{
		watching: o, req: req, log: log, watcher: joined,
		sends: make(chan *compactordv1.WatchSessionResponse), sent: make(chan struct{}),
		patience: time.NewTimer(o.Patience), heartbeat: time.NewTicker(o.Heartbeat),
	}
	w.undelivered.Store(from)
	defer w.patience.Stop()
	defer w.heartbeat.Stop()
	go w.sendAll(stream)
	err = w.run(ctx, row)
	close(w.sends)
	return w.farewell(ctx, err)
}

// watchedFrom is the first sequence to deliver.
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

const overrun = "events of compactions came faster than they were read"

// watch is one WatchSession. It reads the log from the store and waits where there is nothing new.
type watch struct {
	watching *Watching
	req      *compactordv1.WatchSessionRequest
	log      *sessionlog.Reader
	watcher  *watcher

	// sends goes to the goroutine that sends, since a send to a client that does not read cannot be given up: it ends
	// with the call. sent is closed when that goroutine has ended; then sendErr is why, nil where sends was closed.
	sends   chan *compactordv1.WatchSessionResponse
	sent    chan struct{}
	sendErr error
	// undelivered is the first sequence that may not have reached the client.
	undelivered atomic.Uint32
	// patience runs out where the client leaves an answer unread.
	patience  *time.Timer
	heartbeat *time.Ticker
}

// sendAll sends what comes until sends is closed or the client is gone.
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

// run delivers until the watch has to end, and returns why.
func (w *watch) run(ctx context.Context, row *storagev1.Session) error {
	err := w.send(ctx, &compactordv1.WatchSessionResponse{Kind: &compactordv1.WatchSessionResponse_Started{
		Started: &compactordv1.WatchStarted{
			Uid: row.GetUid(), FromSequence: w.log.Next(), Point: session.Point(row.GetHead()),
		},
	}})
	if err != nil {
		return err
	}
	// The session may have changed before this watcher had joined.
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

// wait returns when there may be something new in the log, or false when it has sent an event.
func (w *watch) wait(ctx context.Context) (look bool, err error) {
	select {
	case <-w.watcher.changed:
		return true, nil
	case e := <-w.watcher.events:
		return false, w.sendEvent(ctx, e)
	case <-w.heartbeat.C:
		// Another daemon on the same store wakes nobody here.
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
		return false, &tooSlowError{overrun}
	case <-w.watching.Watchers.ended:
		return false, apierror.ErrShuttingDown
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
}

// catchUp delivers what the log holds by now, and the events that come meanwhile.
func (w *watch) catchUp(ctx context.Context) error {
	row, err := w.watching.Logs.Row(ctx, w.req.GetSessionId())
	if err != nil {
		return err
	}
	if row.GetUid() != w.log.UID() {
		return apierror.SessionNotFound(w.req.GetSessionId())
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

// sendEvents delivers the events that wait.
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

// send hands an answer over to be sent, after the one before has been.
func (w *watch) send(ctx context.Context, answer *compactordv1.WatchSessionResponse) error {
	w.patience.Reset(w.watching.Patience)
	select {
	case w.sends <- answer:
		w.heartbeat.Reset(w.watching.Heartbeat)
		return nil
	case <-w.sent:
		return w.sendErr
	case <-w.patience.C:
		return &tooSlowError{"an answer was left unread for " + w.watching.Patience.String()}
	case <-w.watcher.overrun:
		return &tooSlowError{overrun}
	case <-w.watching.Watchers.ended:
		return apierror.ErrShuttingDown
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// farewell lets the last answer go out before the status, and says where a watcher that is too slow is to go on.
func (w *watch) farewell(ctx context.Context, why error) error {
	w.patience.Reset(min(w.watching.Patience, farewellTimeout))
	select {
	case <-w.sent:
	case <-w.patience.C:
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
