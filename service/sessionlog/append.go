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
	// ViewPoint is the point of the view that the messages were made from; nil means the newest.
	ViewPoint *uint32
	// ExtraTokens are the tokens of the extra blocks in that view.
	ExtraTokens uint32
	// Linked is called with each message that joins the log: before is the head before it, and i its position in the
	// request. May be nil.
	Linked func(before *storagev1.Head, l *compactordv1.LoggedMessage, i int)

	write *Write
	now   *timestamppb.Timestamp
	// calls are the logged messages whose calls the results answer, as far as they have been read.
	calls map[uint32]*compactordv1.LoggedMessage
}

// Appender returns an Appender for the write. The caller sets the exported fields.
func (w *Write) Appender(counter session.Counter) *Appender {
	return &Appender{
		Counter: counter, write: w, now: w.logs.Now(), calls: make(map[uint32]*compactordv1.LoggedMessage),
	}
}

// Append appends messages and applies policy.on_append to them. It calls between(i) before message i, and once more
// with the number of messages after the last, so that the caller can write records there. between may be nil.
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
	if m.GetRole() == compactordv1.Role_ROLE_ASSISTANT {
		l.ExtraTokens = a.ExtraTokens
	}
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
