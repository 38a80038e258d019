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

// compactionChunk is how many compaction entries are read at a time: each can hold a long summary.
const compactionChunk = 16

// RecordQuery asks for a page of a log's records.
type RecordQuery struct {
	// Kinds are the kinds that are wanted. None: all.
	Kinds []compactordv1.RecordKind
	// CompactionID names the one compaction entry that is wanted, and is empty where any is. With it NewestFirst holds.
	CompactionID string
	// NewestFirst goes from the end of the log to its start.
	NewestFirst bool
	// From is the sequence that the page begins at. Nil: the start of the log, with NewestFirst its end.
	From *uint32
	// Limit is the most records of a page.
	Limit int
	// MaxBytes are the most bytes of a page's records, but it holds at least one.
	MaxBytes int
	// MaxRead ends the page once so many bytes of records were read, wanted or not.
	MaxRead int
}

// RecordPage is a page of records.
type RecordPage struct {
	// Records tell whether they were put aside.
	Records []*compactordv1.Record
	// Next is the sequence that the next page begins at; nil on the last.
	Next *uint32
}

// RecordPage reads a page of records.
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
			if q.wants(r) {
				r.PutAside = !session.InForce(row.GetHead(), sequence)
				size += proto.Size(r)
				if n := len(page.Records); n > 0 && (n >= q.Limit || size > q.MaxBytes) {
					page.Next = &sequence
					return page, nil
				}
				page.Records = append(page.Records, r)
			}
			if q.NewestFirst {
				high = sequence
			} else {
				low = sequence + 1
			}
		}
	}
	return page, nil
}

// recordRange returns the sequences, from low to high (exclusive), between which the page's records are.
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
	case *compactordv1.Record_Unpin:
		return compactordv1.RecordKind_RECORD_KIND_UNPIN
	case *compactordv1.Record_PolicyChange:
		return compactordv1.RecordKind_RECORD_KIND_POLICY_CHANGE
	default:
		return compactordv1.RecordKind_RECORD_KIND_UNSPECIFIED
	}
}

// checkpointRange narrows a range of sequences: it begins with the first checkpoint in it and ends with the last.
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

// lastCheckpointBefore is the id of the last checkpoint before a sequence; 0 where there is none.
func (l *Logs) lastCheckpointBefore(ctx context.Context, row *storagev1.Session, sequence uint32) (uint32, error) {
	if sequence == 0 {
		return 0, nil
	}
	stored, err := l.RecordAtOrBefore(ctx, row, sequence-1)
	return stored.GetHead().GetLastCheckpoint(), err
}

// CheckpointRecord finds the record of a checkpoint that there is. Each record keeps the head that it left, and the
// highest id never falls along the log, so the first record with at least this id is the one.
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
