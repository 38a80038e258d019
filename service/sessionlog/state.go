package sessionlog

import (
	"context"
	"fmt"
	"slices"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/storage"
)

// State returns what the view of a head shows: the leading messages, the messages shown out of place, and the kept part. It
// never reads the whole log. The policy and the estimator are the row's.
func (l *Logs) State(ctx context.Context, row *storagev1.Session, h *storagev1.Head) (*session.State, error) {
	return loadState(ctx, l.store, row, h)
}

// stateSince returns the state of a head. Where nothing but appends has changed views since an earlier state, it reads only
// what was appended.
func (l *Logs) stateSince(
	ctx context.Context, row *storagev1.Session, h *storagev1.Head, known *session.State,
) (*session.State, error) {
	if known == nil || !known.GrowsTo(h) {
		return l.State(ctx, row, h)
	}
	appended, err := activeMessages(ctx, l.store, storage.RefOf(row), h, known.Head.GetNextIndex(), h.GetNextIndex())
	if err != nil {
		return nil, err
	}
	return known.WithAppended(h, appended), nil
}

func loadState(
	ctx context.Context, r storage.Store, row *storagev1.Session, h *storagev1.Head,
) (*session.State, error) {
	s, err := newState(row, h)
	if err != nil {
		return nil, err
	}
	ref := storage.RefOf(row)
	if s.Lead, err = activeMessages(ctx, r, ref, h, 0, h.GetLeadEnd()); err != nil {
		return nil, err
	}
	if c := h.GetCompaction(); c != nil {
		if s.Entry, err = compactionAt(ctx, r, ref, c.GetSequence()); err != nil {
			return nil, err
		}
	}
	for _, index := range session.OutOfPlaceIndexes(h) {
		one, err := r.Messages(ctx, ref, index, index+1, 0)
		if err != nil {
			return nil, err
		}
		s.OutOfPlace = append(s.OutOfPlace, one...)
	}
	if s.Kept, err = activeMessages(ctx, r, ref, h, session.KeptFrom(h), h.GetNextIndex()); err != nil {
		return nil, err
	}
	return s, loadEdits(ctx, r, ref, s)
}

func newState(row *storagev1.Session, h *storagev1.Head) (*session.State, error) {
	counter, err := session.CounterFor(row.GetEstimator())
	if err != nil {
		return nil, err
	}
	return &session.State{Head: h, Policy: row.GetResolvedPolicy(), Counter: counter}, nil
}

// activeMessages returns the active messages with indexes from start to end (exclusive).
func activeMessages(
	ctx context.Context, r storage.Store, ref storage.Ref, h *storagev1.Head, start, end uint32,
) ([]*compactordv1.LoggedMessage, error) {
	var active []*compactordv1.LoggedMessage
	for _, a := range h.GetActive() {
		from, to := max(start, a.GetFirstIndex()), min(end, a.GetEndIndex())
		if from >= to {
			continue
		}
		messages, err := r.Messages(ctx, ref, from, to, 0)
		if err != nil {
			return nil, err
		}
		if len(messages) != int(to-from) {
			return nil, fmt.Errorf("%w: of messages %d to %d only %d are there", storage.ErrCorrupt, from, to, len(messages))
		}
		active = append(active, messages...)
	}
	return active, nil
}

func compactionAt(ctx context.Context, r storage.Store, ref storage.Ref, sequence uint32) (*compactordv1.CompactionEntry, error) {
	records, err := r.Records(ctx, ref, sequence, sequence+1, 1)
	if err != nil {
		return nil, err
	}
	if len(records) == 0 || records[0].GetRecord().GetCompaction() == nil {
		return nil, fmt.Errorf("%w: no compaction entry at sequence %d", storage.ErrCorrupt, sequence)
	}
	return records[0].GetRecord().GetCompaction(), nil
}

func loadEdits(ctx context.Context, r storage.Store, ref storage.Ref, s *session.State) error {
	s.Edits = make(map[uint32][]*compactordv1.Edit)
	shown := slices.Concat(s.Lead, s.OutOfPlace, s.Kept)
	for _, run := range runs(shown) {
		if err := addEdits(ctx, r, ref, s.Head, run, s.Edits); err != nil {
			return err
		}
	}
	return nil
}

// runs returns the ranges of consecutive indexes.
func runs(messages []*compactordv1.LoggedMessage) [][2]uint32 {
	var found [][2]uint32
	for _, l := range messages {
		if n := len(found); n > 0 && found[n-1][1] == l.GetIndex() {
			found[n-1][1]++
			continue
		}
		found = append(found, [2]uint32{l.GetIndex(), l.GetIndex() + 1})
	}
	return found
}
