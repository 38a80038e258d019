package sessionlog

import (
	"context"
	"errors"
	"slices"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/storage"
)

// Write is what an operation is about to commit: the changed row, and the messages and records to append.
type Write struct {
	logs   *Logs
	before *storagev1.Session
	commit storage.Commit
	// source reads the log that a new session copies before what the commit has, and sourceBytes is its size; nil where the
	// commit has all.
	source      *logPieces
	sourceBytes uint64
	// measured is the size of a log that had none in its row before; 0 where it was not measured now.
	measured uint64
	// known is an earlier state of the log, from which the state is made where that is possible; nil where there is none.
	known *session.State
	// state is the state before the messages of since, which were appended last. It is nil as long as it is not needed.
	state *session.State
	since []*compactordv1.LoggedMessage
}

// Before returns the row before the write. It must not be changed.
func (w *Write) Before() *storagev1.Session { return w.before }

// Row returns the row after the write. Callers may change all of it but the head.
func (w *Write) Row() *storagev1.Session { return w.commit.Session }

// Head returns the head after the write. It must not be changed.
func (w *Write) Head() *storagev1.Head { return w.commit.Session.GetHead() }

// Messages returns the messages to append, but for those of a long log that is copied. They must not be changed.
func (w *Write) Messages() []*compactordv1.LoggedMessage { return w.commit.Messages }

// Records returns the records to append, but for those of a long log that is copied. They must not be changed.
func (w *Write) Records() []*storagev1.StoredRecord { return w.commit.Records }

// StartFrom says that the caller has an earlier state of the log, so that only what was appended since must be read.
func (w *Write) StartFrom(known *session.State) { w.known = known }

// Fork returns a copy that the caller can add to and throw away.
func (w *Write) Fork() *Write {
	other := *w
	other.commit.Session = cloneRow(w.commit.Session)
	other.commit.Records = slices.Clip(w.commit.Records)
	other.commit.Messages, other.since = slices.Clip(w.commit.Messages), slices.Clip(w.since)
	return &other
}

// State returns the state after what is written so far. It has outlines of the messages that were there before.
func (w *Write) State(ctx context.Context) (*session.State, error) {
	if w.state == nil {
		h := w.Head()
		if len(w.since) > 0 {
			h = w.before.GetHead()
		}
		var err error
		if w.state, err = w.logs.stateSince(ctx, w.before, h, w.known); err != nil {
			return nil, err
		}
	}
	if len(w.since) > 0 {
		// Later appends must not change the head of the state.
		w.state, w.since = w.state.WithAppended(proto.CloneOf(w.Head()), w.since), nil
	}
	return w.state, nil
}

// Record appends a record and returns it as stored. For a Revert, at is the head that it goes back to; else it is nil.
func (w *Write) Record(
	ctx context.Context, r *compactordv1.Record, at *storagev1.Head,
) (*compactordv1.Record, error) {
	state, err := w.State(ctx)
	if err != nil {
		return nil, err
	}
	r.CreatedAt = w.logs.Now()
	written, err := session.Write(state, r, at, func(h *storagev1.Head) (*session.State, error) {
		if state.Outlines == nil {
			// The two are compared.
			return w.logs.State(ctx, w.before, h)
		}
		return w.logs.Outlines(ctx, w.before, h)
	})
	if err != nil {
		return nil, err
	}
	w.TakeOver(written)
	return written.Record, nil
}

// Simulate returns the state after a record, without writing the record. It supports only records that need no other
// state, so no Reverts. TakeOver writes what it returns.
func Simulate(s *session.State, r *compactordv1.Record) (*session.Written, error) {
	return session.Write(s, r, nil, func(*storagev1.Head) (*session.State, error) {
		return nil, errors.New("the record needs a state that is not at hand")
	})
}

// TakeOver appends a record that Simulate returned for the state of this write.
func (w *Write) TakeOver(written *session.Written) {
	w.commit.Records = append(w.commit.Records,
		&storagev1.StoredRecord{Schema: 1, Record: written.Record, Head: written.State.Head})
	// Later appends must not change the head of the record and of the state.
	w.commit.Session.Head = proto.CloneOf(written.State.Head)
	w.state, w.since = written.State, nil
}

// AppendOwn appends a message that the daemon itself wrote.
func (w *Write) AppendOwn(ctx context.Context, m *compactordv1.Message) (*compactordv1.LoggedMessage, error) {
	state, err := w.State(ctx)
	if err != nil {
		return nil, err
	}
	l := session.Link(w.Head(), state.Counter, m, nil)
	l.AppendedAt = w.logs.Now()
	session.Advance(w.Head(), state.Counter, state.Policy, l)
	w.add(l)
	return l, nil
}

func (w *Write) add(l *compactordv1.LoggedMessage) {
	w.commit.Messages, w.since = append(w.commit.Messages, l), append(w.since, l)
}

// RemoveRunning removes a compaction from the running ones that the row names, if it is there.
func (w *Write) RemoveRunning(operation string) {
	w.commit.Session.Running = slices.DeleteFunc(w.commit.Session.GetRunning(), func(r *storagev1.RunningCompaction) bool {
		return r.GetOperationId() == operation
	})
}

// CancelRunning notes for another daemon that its running compaction is to end.
func (w *Write) CancelRunning(operation string, cause storagev1.CancelCause) {
	for i, r := range w.commit.Session.GetRunning() {
		if r.GetOperationId() == operation {
			noted := proto.CloneOf(r)
			noted.Cancel = cause
			w.commit.Session.Running[i] = noted
		}
	}
}
