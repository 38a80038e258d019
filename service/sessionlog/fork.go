package sessionlog

import (
	"context"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	"github.com/compactord/compactord/storage"
)

// Copy begins to write a new session with the log of another one up to a point. Its row is the one that the source had
// at the point; the caller sets its names. The log up to a point never changes, so what is appended meanwhile does not
// matter. A long log is not held: it is read again, piece by piece, when the session is created.
func (l *Logs) Copy(ctx context.Context, source *storagev1.Session, point uint32) (*Write, error) {
	then, err := l.RowAt(ctx, source, point)
	if err != nil {
		return nil, err
	}
	// What was measured is the source's log, and its end at that.
	then.LogBytes = 0
	next := proto.CloneOf(then)
	next.Revision, next.Running = 1, nil
	// A copy of a child is no child, and goes on where the child has ended.
	next.Parent, next.Ended = nil, nil
	next.CreatedAt = l.Now()
	next.ChangedAt = next.GetCreatedAt()
	w := &Write{logs: l, before: then, commit: storage.Commit{Session: next}}
	pieces := logPieces{store: l.store, ref: storage.RefOf(source), end: then.GetHead()}
	first := pieces
	piece, err := first.next(ctx)
	if err != nil {
		return nil, err
	}
	if first.ended() {
		w.commit.Messages, w.commit.Records = piece.Messages, piece.Records
		return w, nil
	}
	w.source = &pieces
	w.sourceBytes, err = sizeUpTo(ctx, l.store, source, then.GetHead())
	return w, err
}
