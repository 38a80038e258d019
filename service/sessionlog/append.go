package sessionlog

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// Appender appends the messages of a request, one after the other.
type Appender struct {
	// Counter counts by the session's estimator.
	Counter session.Counter
	// ViewPoint is the point of the view that the messages were made from; nil for the newest.
	ViewPoint *uint32
	// Linked is told how message i of the request joined the log, before whose head it was linked. May be nil.
	Linked func(before *storagev1.Head, l *compactordv1.LoggedMessage, i int)

	write *Write
	now   *timestamppb.Timestamp
	// callers are the messages of the log with the calls that results answer, as far as they were read.
	callers map[uint32]*compactordv1.LoggedMessage
}

// Appender begins to append messages. The caller sets what it exports.
func (w *Write) Appender(counter session.Counter) *Appender {
	return &Appender{
		Counter: counter, write: w, now: w.logs.Now(), callers: make(map[uint32]*compactordv1.LoggedMessage),
	}
}

// Append appends messages, as policy.on_append says. Before message i come all records that between writes for it; once more
// with the number of messages, for what stands behind the last. between may be nil.
func (a *Appender) Append(
	ctx context.Context, messages []*compactordv1.Message, between func(i int) error,
) error {
	for i, m := range messages {
		if between != nil {
			if err := between(i); err != nil {
				return err
			}
		}
		if err := a.append(ctx, i, m); err != nil {
			return err
		}
	}
	if between == nil {
		return nil
	}
	return between(len(messages))
}

func (a *Appender) append(ctx context.Context, i int, m *compactordv1.Message) error {
	w := a.write
	l := session.Link(w.Head(), a.Counter, m, a.ViewPoint)
	l.AppendedAt = a.now
	if a.Linked != nil {
		a.Linked(w.Head(), l, i)
	}
	if err := a.onAppend(ctx, l); err != nil {
		return err
	}
	session.Advance(w.Head(), a.Counter, w.before.GetResolvedPolicy(), l)
	w.add(l)
	return nil
}
