package sessionlog

import (
	"context"
	"errors"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/tenant"
	"github.com/compactord/compactord/storage"
)

// The row of a session has the size of its log, to which each write adds what it appends. So nobody has to read the log
// for it. Sessions that an earlier version began have none before Measure has measured them.

// AddedBytes returns the bytes of the messages and records to append.
func (w *Write) AddedBytes() uint64 {
	size := 0
	for _, m := range w.commit.Messages {
		size += proto.Size(m)
	}
	for _, r := range w.commit.Records {
		size += proto.Size(r)
	}
	return w.sourceBytes + uint64(size)
}

// Size returns about how many bytes the write takes.
func (w *Write) Size() int {
	size := proto.Size(w.commit.Session) + int(w.AddedBytes())
	if w.commit.Request != nil {
		size += proto.Size(w.commit.Request.Stored)
	}
	return size
}

// New reports whether the write begins a session.
func (w *Write) New() bool { return w.commit.Session.GetRevision() == 1 }

// measure writes the size of the log into the row.
func (w *Write) measure() {
	size := w.before.GetLogBytes() + w.measured
	if size > 0 || w.New() {
		size += w.AddedBytes()
	}
	w.commit.Session.LogBytes = size
}

// Kept is what a tenant keeps in the store.
type Kept struct {
	Sessions int64
	// LogBytes are the bytes of the measured logs.
	LogBytes int64
	// Unmeasured is the number of sessions whose logs are not measured.
	Unmeasured int
}

// keptPage is the number of rows that are read at a time.
const keptPage = 500

// Kept returns what the calling tenant keeps, by the rows of its sessions.
func (l *Logs) Kept(ctx context.Context) (kept Kept, err error) {
	err = l.eachRow(ctx, func(row *storagev1.Session) error {
		kept.Sessions++
		kept.LogBytes += int64(row.GetLogBytes())
		// That of a damaged row is unknown for ever.
		if row != nil && row.GetLogBytes() == 0 {
			kept.Unmeasured++
		}
		return nil
	})
	return kept, err
}

// Measure writes the sizes of the calling tenant's logs into those rows that have none. Damaged logs are logged, and left
// as they are.
func (l *Logs) Measure(ctx context.Context) error {
	return l.eachRow(ctx, func(row *storagev1.Session) error {
		if row == nil || row.GetLogBytes() > 0 {
			return nil
		}
		err := l.measureLog(ctx, row)
		if isUnreadable(err) {
			l.logger.ErrorContext(ctx, "log not measured: its data is damaged", "session_id", row.GetSessionId(), "error", err)
			return nil
		}
		if apierror.IsSessionNotFound(err) || errors.Is(err, storage.ErrNotFound) {
			return nil
		}
		return err
	})
}

func (l *Logs) measureLog(ctx context.Context, row *storagev1.Session) error {
	size, err := logSize(ctx, l.store, row)
	if err != nil {
		return err
	}
	read := row.GetHead()
	return l.update(ctx, row.GetSessionId(), func(now *storagev1.Session) (*Write, error) {
		if now.GetUid() != row.GetUid() || now.GetLogBytes() > 0 {
			return nil, nil
		}
		if now.GetHead().GetNextSequence() != read.GetNextSequence() {
			since, err := sizeSince(ctx, l.store, now, read)
			if err != nil {
				return nil, err
			}
			size, read = size+since, now.GetHead()
		}
		w := l.BeginInternal(now)
		w.measured = size
		return w, nil
	})
}

// logSize returns the bytes of a session's log by reading it.
func logSize(ctx context.Context, s storage.Store, row *storagev1.Session) (uint64, error) {
	return sizeSince(ctx, s, row, nil)
}

// sizeSince returns the bytes of what a log has after an earlier head of it.
func sizeSince(ctx context.Context, s storage.Store, row *storagev1.Session, since *storagev1.Head) (uint64, error) {
	size, end, ref := 0, row.GetHead(), storage.RefOf(row)
	for at := since.GetNextIndex(); at < end.GetNextIndex(); {
		messages, err := s.Messages(ctx, ref, at, end.GetNextIndex(), messageChunk)
		if err != nil {
			return 0, err
		}
		if len(messages) == 0 {
			return 0, MissingMessage(at)
		}
		for _, m := range messages {
			size += proto.Size(m)
		}
		at += uint32(len(messages))
	}
	for at := since.GetNextSequence(); at < end.GetNextSequence(); {
		records, err := s.Records(ctx, ref, at, end.GetNextSequence(), checkChunk)
		if err != nil {
			return 0, err
		}
		if len(records) == 0 {
			break
		}
		for _, r := range records {
			size += proto.Size(r)
			at = r.GetRecord().GetSequence() + 1
		}
	}
	return uint64(size), nil
}

// eachRow calls fn with the rows of the calling tenant, as they are stored. For a damaged one, row is nil.
func (l *Logs) eachRow(ctx context.Context, fn func(row *storagev1.Session) error) error {
	damaged := 0
	q := storage.SessionQuery{Tenant: tenant.Of(ctx), Limit: keptPage, Damaged: func(*storage.DamagedError) { damaged++ }}
	for {
		rows, next, err := l.store.Sessions(ctx, q)
		if err != nil {
			return err
		}
		for range damaged {
			rows = append(rows, nil)
		}
		damaged = 0
		for _, row := range rows {
			if err := fn(row); err != nil {
				return err
			}
		}
		if q.Cursor = next; next == "" {
			return nil
		}
	}
}
