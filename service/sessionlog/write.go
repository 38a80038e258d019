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
	"github.com/compactord/compactord/strategies"
)

// Write is what an operation is about to write: the row as it will be, and what is appended to the log.
type Write struct {
	logs   *Logs
	before *storagev1.Session
	commit storage.Commit
	// state is the state before the messages of since, the last that are appended; nil where nobody has asked for it.
	state *session.State
	since []*compactordv1.LoggedMessage
}

// Before is the row as it was. It must not be changed.
func (w *Write) Before() *storagev1.Session { return w.before }

// Row is the row as it will be. All of it but the head may be changed.
func (w *Write) Row() *storagev1.Session { return w.commit.Session }

// Head is the head as it will be. It must not be changed.
func (w *Write) Head() *storagev1.Head { return w.commit.Session.GetHead() }

// Messages are the messages that are appended. They must not be changed.
func (w *Write) Messages() []*compactordv1.LoggedMessage { return w.commit.Messages }

// Report says how full the session's context will be.
func (w *Write) Report() *compactordv1.ContextReport {
	return strategies.Report(w.Head(), w.commit.Session.GetResolvedPolicy())
}

// Fork returns a copy that can be added to and thrown away.
func (w *Write) Fork() *Write {
	other := *w
	other.commit.Session = proto.CloneOf(w.commit.Session)
	other.commit.Records = slices.Clip(w.commit.Records)
	other.commit.Messages, other.since = slices.Clip(w.commit.Messages), slices.Clip(w.since)
	return &other
}

// State is the state at the end of what is written so far.
func (w *Write) State(ctx context.Context) (*session.State, error) {
	if w.state == nil {
		h := w.Head()
		if len(w.since) > 0 {
			h = w.before.GetHead()
		}
		var err error
		if w.state, err = w.logs.State(ctx, w.before, h); err != nil {
			return nil, err
		}
	}
	if len(w.since) > 0 {
		// What is appended next must not change the head that the state keeps.
		w.state, w.since = w.state.WithAppended(proto.CloneOf(w.Head()), w.since), nil
	}
	return w.state, nil
}

// Record appends a record and returns it as it is written. at is the head that a Revert goes back to; nil for all others.
func (w *Write) Record(
	ctx context.Context, r *compactordv1.Record, at *storagev1.Head,
) (*compactordv1.Record, error) {
	state, err := w.State(ctx)
	if err != nil {
		return nil, err
	}
	r.CreatedAt = w.logs.Now()
	written, err := session.Write(state, r, at, func(h *storagev1.Head) (*session.State, error) {
		return w.logs.State(ctx, w.before, h)
	})
	if err != nil {
		return nil, err
	}
	w.Take(written)
	return written.Record, nil
}

// Try puts a record that needs no other state behind a state, and writes nothing. Take appends what it returns.
func Try(s *session.State, r *compactordv1.Record) (*session.Written, error) {
	return session.Write(s, r, nil, func(*storagev1.Head) (*session.State, error) {
		return nil, errors.New("the record needs a state that is not at hand")
	})
}

// Take appends a record that was put behind the state of this write.
func (w *Write) Take(written *session.Written) {
	w.commit.Records = append(w.commit.Records,
		&storagev1.StoredRecord{Schema: 1, Record: written.Record, Head: written.State.Head})
	// What is appended next must not change the head that the record and the state keep.
	w.commit.Session.Head = proto.CloneOf(written.State.Head)
	w.state, w.since = written.State, nil
}

// Say appends a message of the daemon's own.
func (w *Write) Say(ctx context.Context, m *compactordv1.Message) (*compactordv1.LoggedMessage, error) {
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

// EndsCompaction takes a compaction out of the row, if that names it as running.
func (w *Write) EndsCompaction(operation string) {
	w.commit.Session.Running = slices.DeleteFunc(w.commit.Session.GetRunning(), func(r *storagev1.RunningCompaction) bool {
		return r.GetOperationId() == operation
	})
}
