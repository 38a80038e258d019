package sessionlog

import (
	"context"
	"fmt"
	"slices"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/strategies"
)

// State returns what the view of a head shows: the leading messages, the messages shown out of place, and the kept part. It
// never reads the whole log. The policy and the estimator are the row's.
func (l *Logs) State(ctx context.Context, row *storagev1.Session, h *storagev1.Head) (*session.State, error) {
	return loadState(ctx, l.store, row, h, nil)
}

// LeastOutlined is the size in bytes from which on outlines leave texts out, by default.
const LeastOutlined = 2 << 10

// Outlines returns the state of a head like State, but with outlines of the messages.
func (l *Logs) Outlines(ctx context.Context, row *storagev1.Session, h *storagev1.Head) (*session.State, error) {
	return loadState(ctx, l.store, row, h, &session.Outlines{
		Contents: l.pieces(row, h, minPieceBytes), To: h.GetNextIndex(), Least: l.leastOutlined, Facts: strategies.OutlineFacts,
	})
}

// OutlinesBeside returns the outlines of a head, and beside them those of further messages of the log, whose contents the
// state reads, too.
func (l *Logs) OutlinesBeside(
	ctx context.Context, row *storagev1.Session, h *storagev1.Head, further []*compactordv1.IndexRange,
) (s *session.State, beside []*compactordv1.LoggedMessage, err error) {
	outlines := &session.Outlines{
		Contents: anyPieces{l.pieces(row, h, minPieceBytes)}, To: row.GetHead().GetNextIndex(), Least: l.leastOutlined,
		Facts: strategies.OutlineFacts,
	}
	if s, err = loadState(ctx, l.store, row, h, outlines); err != nil {
		return nil, nil, err
	}
	err = l.EachMessage(ctx, row, further, func(l *compactordv1.LoggedMessage) bool {
		beside = append(beside, outlines.Of(l))
		return true
	})
	return s, beside, err
}

// stateSince returns the state of a head. Where nothing but appends has changed views since an earlier state, it reads only
// what was appended.
func (l *Logs) stateSince(
	ctx context.Context, row *storagev1.Session, h *storagev1.Head, known *session.State,
) (*session.State, error) {
	if known == nil {
		known = l.keptStates.get(row.GetUid())
	}
	if known == nil || !known.GrowsTo(h) {
		return l.Outlines(ctx, row, h)
	}
	outlines := known.Outlines.Extended(l.pieces(row, h, minPieceBytes), h.GetNextIndex())
	read := &stateReader{store: l.store, ref: storage.RefOf(row), head: h, outlines: outlines}
	appended, err := read.active(ctx, known.Head.GetNextIndex(), h.GetNextIndex())
	if err != nil {
		return nil, err
	}
	next := known.WithAppended(h, appended)
	next.Outlines = outlines
	return next, nil
}

func loadState(
	ctx context.Context, r storage.Store, row *storagev1.Session, h *storagev1.Head, outlines *session.Outlines,
) (*session.State, error) {
	s, err := newState(ctx, r, row, h)
	if err != nil {
		return nil, err
	}
	s.Known = &session.Known{}
	if s.Outlines = outlines; outlines != nil {
		outlines.Counter, outlines.Known = s.Counter, s.Known
	}
	read := &stateReader{store: r, ref: storage.RefOf(row), head: h, outlines: outlines}
	if s.Lead, err = read.active(ctx, 0, h.GetLeadEnd()); err != nil {
		return nil, err
	}
	if c := h.GetCompaction(); c != nil {
		if s.Entry, err = compactionAt(ctx, r, read.ref, c.GetSequence()); err != nil {
			return nil, err
		}
	}
	for _, index := range session.OutOfPlaceIndexes(h) {
		one, err := read.run(ctx, index, index+1)
		if err != nil {
			return nil, err
		}
		s.OutOfPlace = append(s.OutOfPlace, one...)
	}
	if s.Kept, err = read.active(ctx, session.KeptFrom(h), h.GetNextIndex()); err != nil {
		return nil, err
	}
	return s, loadEdits(ctx, r, read.ref, s)
}

// newState returns a state without messages and edits.
func newState(
	ctx context.Context, r storage.Store, row *storagev1.Session, h *storagev1.Head,
) (*session.State, error) {
	counter, err := session.CounterFor(row.GetEstimator())
	if err != nil {
		return nil, err
	}
	s := &session.State{Head: h, Policy: row.GetResolvedPolicy(), Counter: counter}
	if s.Blocks, err = contextBlocks(ctx, r, storage.RefOf(row), h); err != nil {
		return nil, err
	}
	s.Instructions, err = instructions(ctx, r, storage.RefOf(row), h)
	return s, err
}

// stateReader reads the messages of a state.
type stateReader struct {
	store storage.Store
	ref   storage.Ref
	head  *storagev1.Head
	// outlines makes outlines of the messages; nil where they are read as they are.
	outlines *session.Outlines
}

// active returns the active messages with indexes from start to end (exclusive).
func (r *stateReader) active(ctx context.Context, start, end uint32) ([]*compactordv1.LoggedMessage, error) {
	var active []*compactordv1.LoggedMessage
	for _, a := range r.head.GetActive() {
		from, to := max(start, a.GetFirstIndex()), min(end, a.GetEndIndex())
		if from >= to {
			continue
		}
		messages, err := r.run(ctx, from, to)
		if err != nil {
			return nil, err
		}
		active = append(active, messages...)
	}
	return active, nil
}

// run returns the messages with indexes from start to end (exclusive). It reads them piece by piece, so that where
// outlines are made, only a piece is held as it is.
func (r *stateReader) run(ctx context.Context, start, end uint32) ([]*compactordv1.LoggedMessage, error) {
	var run []*compactordv1.LoggedMessage
	for next := start; next < end; {
		piece, err := r.store.Messages(ctx, r.ref, next, end, maxPieceBytes)
		if err != nil {
			return nil, err
		}
		if len(piece) == 0 {
			return nil, fmt.Errorf("%w: of messages %d to %d only %d are there", storage.ErrCorrupt, start, end, len(run))
		}
		next += uint32(len(piece))
		for _, l := range piece {
			if r.outlines != nil {
				l = r.outlines.Of(l)
			}
			run = append(run, l)
		}
	}
	return run, nil
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
