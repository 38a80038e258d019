package sessionlog

import (
	"context"
	"fmt"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/storage"
)

// RecordChunk is the number of records that are read at a time. It is small since each record has a head stored with
// it.
const RecordChunk = 100

// messageChunk is the number of bytes of messages that are read at a time.
const messageChunk = 4 << 20

// EachMessage calls take with each message of the ranges, in order, until take returns false.
func (l *Logs) EachMessage(
	ctx context.Context, row *storagev1.Session, ranges []*compactordv1.IndexRange,
	take func(m *compactordv1.LoggedMessage) bool,
) error {
	for _, r := range ranges {
		for next := r.GetStart(); next < r.GetEnd(); {
			chunk, err := l.store.Messages(ctx, storage.RefOf(row), next, r.GetEnd(), messageChunk)
			if err != nil {
				return err
			}
			if len(chunk) == 0 {
				return MissingMessage(next)
			}
			for _, m := range chunk {
				if !take(m) {
					return nil
				}
			}
			next = chunk[len(chunk)-1].GetIndex() + 1
		}
	}
	return nil
}

// MessagesBefore returns all messages with an index below end.
func (l *Logs) MessagesBefore(
	ctx context.Context, row *storagev1.Session, end uint32,
) ([]*compactordv1.LoggedMessage, error) {
	messages := make([]*compactordv1.LoggedMessage, 0, end)
	all := []*compactordv1.IndexRange{{End: end}}
	err := l.EachMessage(ctx, row, all, func(m *compactordv1.LoggedMessage) bool {
		messages = append(messages, m)
		return true
	})
	return messages, err
}

// RecordsUpTo returns all records up to a point.
func (l *Logs) RecordsUpTo(
	ctx context.Context, row *storagev1.Session, point uint32,
) ([]*storagev1.StoredRecord, error) {
	var records []*storagev1.StoredRecord
	for next := uint32(0); next <= point; {
		chunk, err := l.store.Records(ctx, storage.RefOf(row), next, point+1, RecordChunk)
		if err != nil {
			return nil, err
		}
		if len(chunk) == 0 {
			break
		}
		records = append(records, chunk...)
		next = chunk[len(chunk)-1].GetRecord().GetSequence() + 1
	}
	return records, nil
}

// MissingMessage returns the error for a log that lacks a message.
func MissingMessage(index uint32) error {
	return fmt.Errorf("%w: message %d is missing", storage.ErrCorrupt, index)
}

// Message returns one message.
func (l *Logs) Message(ctx context.Context, row *storagev1.Session, index uint32) (*compactordv1.LoggedMessage, error) {
	one, err := l.store.Messages(ctx, storage.RefOf(row), index, index+1, 0)
	if err != nil {
		return nil, err
	}
	if len(one) != 1 {
		return nil, MissingMessage(index)
	}
	return one[0], nil
}

// Messages returns messages with indexes from start to end (exclusive), as storage.Store does. It stops before their
// encodings together pass maxBytes (0: no limit), but returns at least one.
func (l *Logs) Messages(
	ctx context.Context, row *storagev1.Session, start, end uint32, maxBytes int,
) ([]*compactordv1.LoggedMessage, error) {
	return l.store.Messages(ctx, storage.RefOf(row), start, end, maxBytes)
}

// Records returns the records with sequences from start to end (exclusive), at most RecordChunk of them.
func (l *Logs) Records(ctx context.Context, row *storagev1.Session, start, end uint32) ([]*storagev1.StoredRecord, error) {
	return l.store.Records(ctx, storage.RefOf(row), start, end, RecordChunk)
}

// RecordAtOrBefore returns the newest record whose sequence is at most the given one.
func (l *Logs) RecordAtOrBefore(
	ctx context.Context, row *storagev1.Session, sequence uint32,
) (*storagev1.StoredRecord, error) {
	return l.store.RecordAtOrBefore(ctx, storage.RefOf(row), sequence)
}

// Compactions returns the records that hold CompactionEntries with a sequence below before (0: no limit), newest first,
// at most limit of them.
func (l *Logs) Compactions(
	ctx context.Context, row *storagev1.Session, before uint32, limit int,
) ([]*storagev1.StoredRecord, error) {
	return l.store.Compactions(ctx, storage.RefOf(row), before, limit)
}

// Edits returns all edits of the messages with indexes from start to end (exclusive), also those that a Revert put
// aside.
func (l *Logs) Edits(ctx context.Context, row *storagev1.Session, start, end uint32) ([]storage.IndexedEdits, error) {
	return l.store.Edits(ctx, storage.RefOf(row), start, end)
}

// RequestedHead returns the head at a point that a field of a request names. It refuses a point after the end of the
// log.
func (l *Logs) RequestedHead(
	ctx context.Context, row *storagev1.Session, point uint32, field string,
) (*storagev1.Head, error) {
	if last := session.Point(row.GetHead()); point > last {
		return nil, apierror.PointOutOfRange(field, point, last)
	}
	return l.HeadAt(ctx, row, point)
}
