package sessionlog

import (
	"context"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/storage"
)

// compactionChunk is the number of compaction entries that are read at a time. It is small since each can hold a long
// summary.
const compactionChunk = 16

// RecordQuery asks for a page of a log's records.
type RecordQuery struct {
	// Kinds selects records by kind. Empty: all.
	Kinds []compactordv1.RecordKind
	// CompactionID selects the compaction entry with this id, and implies NewestFirst. Empty: all records.
	CompactionID string
	// NewestFirst lists from the end of the log to its start.
	NewestFirst bool
	// From is the sequence that the page begins at. Nil: the start of the log, or with NewestFirst its end.
	From *uint32
	// Limit is the most records on a page.
	Limit int
	// MaxBytes is the most bytes of records on a page. A page holds at least one record, whatever its size.
	MaxBytes int
	// MaxRead ends the page after this many bytes of records were read, selected or not.
	MaxRead int
}

// RecordPage is a page of records.
type RecordPage struct {
	// Records have put_aside set.
	Records []*compactordv1.Record
	// Next is the sequence that the next page begins at; nil on the last page.
	Next *uint32
}

// RecordPage returns a page of records.
func (l *Logs) RecordPage(ctx context.Context, row *storagev1.Session, q RecordQuery) (*RecordPage, error) {
	q.NewestFirst = q.NewestFirst || q.CompactionID != ""
	low, high, err := l.recordRange(ctx, row, &q)
	if err != nil {
		return nil, err
	}
	page := &RecordPage{}
	for size, read := 0, 0; low < high; {
		chunk, err := l.recordChunk(ctx, row, &q, low, high)
		if err != nil {
			return nil, err
		}
		if len(chunk) == 0 {
			break
		}
		for _, stored := range chunk {
			r := stored.GetRecord()
			sequence := r.GetSequence()
			if read >= q.MaxRead {
				page.Next = &sequence
				return page, nil
			}
			read += proto.Size(stored)
			if q.NewestFirst {
				high = sequence
			} else {
				low = sequence + 1
			}
			if !q.wants(r) {
				continue
			}
			r.PutAside = !session.InForce(row.GetHead(), sequence)
			size += proto.Size(r)
			if len(page.Records) > 0 && size > q.MaxBytes {
				page.Next = &sequence
				return page, nil
			}
			page.Records = append(page.Records, r)
			if q.CompactionID != "" {
				// No other entry has this id.
				return page, nil
			}
			if len(page.Records) == q.Limit && low < high {
				page.Next = proto.Uint32(q.first(low, high))
				return page, nil
			}
		}
	}
	return page, nil
}

// recordRange returns the sequences, from low to high (exclusive), that can hold records of the page.
func (l *Logs) recordRange(ctx context.Context, row *storagev1.Session, q *RecordQuery) (low, high uint32, err error) {
	high = row.GetHead().GetNextSequence()
	switch {
	case q.From == nil:
	case q.NewestFirst:
		high = min(high-1, *q.From) + 1
	default:
		low = *q.From
	}
	if low < high && q.wantsOnly(compactordv1.RecordKind_RECORD_KIND_CHECKPOINT) {
		return l.checkpointRange(ctx, row, low, high)
	}
	return low, high, nil
}

// recordChunk reads the next records between two sequences, in the order of the query.
func (l *Logs) recordChunk(
	ctx context.Context, row *storagev1.Session, q *RecordQuery, low, high uint32,
) ([]*storagev1.StoredRecord, error) {
	if !q.NewestFirst {
		return l.Records(ctx, row, low, high)
	}
	if q.CompactionID != "" || q.wantsOnly(compactordv1.RecordKind_RECORD_KIND_COMPACTION) {
		return l.Compactions(ctx, row, high, compactionChunk)
	}
	newest, err := l.RecordAtOrBefore(ctx, row, high-1)
	return []*storagev1.StoredRecord{newest}, err
}

// first returns the sequence that a page begins at, of those from low to high (exclusive).
func (q *RecordQuery) first(low, high uint32) uint32 {
	if q.NewestFirst {
		return high - 1
	}
	return low
}

func (q *RecordQuery) wants(r *compactordv1.Record) bool {
	return (len(q.Kinds) == 0 || slices.Contains(q.Kinds, kindOf(r))) &&
		(q.CompactionID == "" || r.GetCompaction().GetId() == q.CompactionID)
}

func (q *RecordQuery) wantsOnly(kind compactordv1.RecordKind) bool {
	return len(q.Kinds) > 0 && !slices.ContainsFunc(q.Kinds, func(k compactordv1.RecordKind) bool { return k != kind })
}

func kindOf(r *compactordv1.Record) compactordv1.RecordKind {
	switch r.GetKind().(type) {
	case *compactordv1.Record_Compaction:
		return compactordv1.RecordKind_RECORD_KIND_COMPACTION
	case *compactordv1.Record_Prune:
		return compactordv1.RecordKind_RECORD_KIND_PRUNE
	case *compactordv1.Record_Attempt:
		return compactordv1.RecordKind_RECORD_KIND_ATTEMPT
	case *compactordv1.Record_Checkpoint:
		return compactordv1.RecordKind_RECORD_KIND_CHECKPOINT
	case *compactordv1.Record_Revert:
		return compactordv1.RecordKind_RECORD_KIND_REVERT
	case *compactordv1.Record_Pin:
		return compactordv1.RecordKind_RECORD_KIND_PIN
	case *compactordv1.Record_ContextBlocks:
		return compactordv1.RecordKind_RECORD_KIND_CONTEXT_BLOCKS
	case *compactordv1.Record_Instructions:
		return compactordv1.RecordKind_RECORD_KIND_INSTRUCTIONS
	case *compactordv1.Record_Unpin:
		return compactordv1.RecordKind_RECORD_KIND_UNPIN
	case *compactordv1.Record_PolicyChange:
		return compactordv1.RecordKind_RECORD_KIND_POLICY_CHANGE
	case *compactordv1.Record_ChildEnd:
		return compactordv1.RecordKind_RECORD_KIND_CHILD_END
	default:
		return compactordv1.RecordKind_RECORD_KIND_UNSPECIFIED
	}
}

// checkpointRange narrows a range of sequences to the one from its first checkpoint to its last.
func (l *Logs) checkpointRange(
	ctx context.Context, row *storagev1.Session, low, high uint32,
) (first, end uint32, err error) {
	before, err := l.lastCheckpointBefore(ctx, row, low)
	if err != nil {
		return 0, 0, err
	}
	last, err := l.lastCheckpointBefore(ctx, row, high)
	if err != nil || before == last {
		return high, high, err
	}
	oldest, err := l.CheckpointRecord(ctx, row, before+1)
	if err != nil {
		return 0, 0, err
	}
	newest, err := l.CheckpointRecord(ctx, row, last)
	return oldest.GetSequence(), newest.GetSequence() + 1, err
}

// lastCheckpointBefore returns the id of the last checkpoint before a sequence; 0 where there is none.
func (l *Logs) lastCheckpointBefore(ctx context.Context, row *storagev1.Session, sequence uint32) (uint32, error) {
	if sequence == 0 {
		return 0, nil
	}
	stored, err := l.RecordAtOrBefore(ctx, row, sequence-1)
	return stored.GetHead().GetLastCheckpoint(), err
}

// CheckpointStarts returns, for each checkpoint in force at a head, the index of the first message after it, ascending. It
// leaves out those that are followed by messages before the kept part.
func (l *Logs) CheckpointStarts(ctx context.Context, row *storagev1.Session, h *storagev1.Head) ([]uint32, error) {
	var starts []uint32
	low, high, err := l.checkpointRange(ctx, row, 0, h.GetNextSequence())
	for err == nil && low < high {
		var stored *storagev1.StoredRecord
		if stored, err = l.RecordAtOrBefore(ctx, row, high-1); err != nil {
			break
		}
		start := stored.GetHead().GetNextIndex()
		if start < session.KeptFrom(h) {
			break
		}
		high = stored.GetRecord().GetSequence()
		if stored.GetRecord().GetCheckpoint() != nil && session.InForce(h, high) {
			starts = append(starts, start)
		}
	}
	slices.Reverse(starts)
	return starts, err
}

// CheckpointRecord returns the record of a checkpoint that exists. The head after each record holds the highest
// checkpoint id so far, which never falls along the log. So a binary search finds the first record with at least this
// id.
func (l *Logs) CheckpointRecord(ctx context.Context, row *storagev1.Session, id uint32) (*compactordv1.Record, error) {
	var found *compactordv1.Record
	low, high := uint32(0), row.GetHead().GetNextSequence()
	for low < high {
		middle := low + (high-low)/2
		stored, err := l.RecordAtOrBefore(ctx, row, middle)
		if err != nil {
			return nil, err
		}
		if stored.GetHead().GetLastCheckpoint() < id {
			low = middle + 1
			continue
		}
		found, high = stored.GetRecord(), stored.GetRecord().GetSequence()
	}
	if found.GetCheckpoint().GetId() != id {
		return nil, fmt.Errorf("%w: no record of checkpoint %d", storage.ErrCorrupt, id)
	}
	return found, nil
}
