package sessionlog

import (
	"context"
	"fmt"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/storage"
)

// readAheadBytes is how many bytes of messages are read at a time.
const readAheadBytes = 256 << 10

// Reader reads messages and records of a session in the order of their sequences. It buffers some of each.
type Reader struct {
	store storage.Store
	ref   storage.Ref
	// next is the sequence to read next, and index the index of the next message.
	next, index uint32

	messages []*compactordv1.LoggedMessage
	records  []*storagev1.StoredRecord
	// recordsRead is the sequence up to which all records were read.
	recordsRead uint32
}

// NewReader returns a Reader that begins at a sequence.
func (l *Logs) NewReader(ctx context.Context, row *storagev1.Session, from uint32) (*Reader, error) {
	r := &Reader{store: l.store, ref: storage.RefOf(row), next: from, recordsRead: from}
	if from == 0 {
		return r, nil
	}
	before, err := l.store.RecordAtOrBefore(ctx, r.ref, from-1)
	if err != nil {
		return nil, err
	}
	// Between two records there are only messages, and each takes one sequence.
	r.index = before.GetHead().GetNextIndex() + from - 1 - before.GetRecord().GetSequence()
	return r, nil
}

// Next returns the sequence to read next.
func (r *Reader) Next() uint32 { return r.next }

// UID returns the uid of the incarnation whose log is read.
func (r *Reader) UID() string { return r.ref.UID }

// Read returns the next message or record of a log with this head. At the end of the log it returns neither.
func (r *Reader) Read(
	ctx context.Context, h *storagev1.Head,
) (*compactordv1.LoggedMessage, *compactordv1.Record, error) {
	if r.next >= h.GetNextSequence() {
		return nil, nil, nil
	}
	if err := r.readRecords(ctx, h.GetNextSequence()); err != nil {
		return nil, nil, err
	}
	if len(r.records) > 0 && r.records[0].GetRecord().GetSequence() == r.next {
		record := r.records[0].GetRecord()
		r.records = r.records[1:]
		r.next++
		return nil, record, nil
	}
	if err := r.readMessages(ctx, h.GetNextIndex()); err != nil {
		return nil, nil, err
	}
	if len(r.messages) == 0 || r.messages[0].GetSequence() != r.next {
		return nil, nil, fmt.Errorf("%w: nothing at sequence %d", storage.ErrCorrupt, r.next)
	}
	message := r.messages[0]
	r.messages = r.messages[1:]
	message.State, message.Pinned = session.StateOf(h, message.GetIndex()), session.Pinned(h, message.GetIndex())
	r.next++
	r.index++
	return message, nil, nil
}

func (r *Reader) readRecords(ctx context.Context, end uint32) error {
	if len(r.records) > 0 || r.recordsRead >= end {
		return nil
	}
	var err error
	if r.records, err = r.store.Records(ctx, r.ref, r.next, end, RecordChunk); err != nil {
		return err
	}
	r.recordsRead = end
	if len(r.records) == RecordChunk {
		r.recordsRead = r.records[RecordChunk-1].GetRecord().GetSequence() + 1
	}
	return nil
}

func (r *Reader) readMessages(ctx context.Context, end uint32) error {
	if len(r.messages) > 0 {
		return nil
	}
	var err error
	r.messages, err = r.store.Messages(ctx, r.ref, r.index, end, readAheadBytes)
	return err
}
