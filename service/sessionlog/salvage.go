package sessionlog

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/storage"
)

// salvageBytes is about how much of a log one commit of Salvage writes.
const salvageBytes = 8 << 20

// Salvaged says what Salvage took over of a session.
type Salvaged struct {
	// Messages is the number of messages that were taken over; of Of, which is 0 where the row could not be read.
	Messages, Of uint32
	// Lost says what ended the log early; nil where the whole session was taken over.
	Lost error
}

// Salvage copies a session from a damaged store into another: the whole, or its log up to the first damage. It forgets
// which requests were answered, and which compactions ran.
func Salvage(ctx context.Context, from, to storage.Store, tenant, id string) (Salvaged, error) {
	row, err := from.Session(ctx, tenant, id)
	if isUnreadable(err) || errors.Is(err, storage.ErrNotFound) {
		return Salvaged{Lost: err}, nil
	}
	if err != nil {
		return Salvaged{}, err
	}
	s := &salvage{from: from, to: to, row: row, out: proto.CloneOf(row)}
	s.out.Revision, s.out.Running, s.out.DuePlan = 0, nil, nil
	if err := s.attempt(ctx); err != nil {
		return s.refused(ctx, err)
	}
	return Salvaged{Messages: s.index, Of: row.GetHead().GetNextIndex(), Lost: s.lost}, nil
}

// refused returns what an error of writing, or of reading again, means. What only this session cannot do loses this
// session, and nothing of it is left in the new store; the others go on.
func (s *salvage) refused(ctx context.Context, err error) (Salvaged, error) {
	what := "it cannot be written"
	if s.unreadableAgain {
		what = "what was read of it cannot be read again"
	}
	for _, ends := range []error{storage.ErrDisk, storage.ErrFull, storage.ErrLost, storage.ErrClosed} {
		if errors.Is(err, ends) && !s.unreadableAgain {
			return Salvaged{}, err
		}
	}
	if context.Cause(ctx) != nil {
		return Salvaged{}, err
	}
	if s.out.GetRevision() > 1 {
		if undo := s.to.DeleteSession(ctx, s.row.GetTenant(), s.row.GetSessionId()); undo != nil {
			return Salvaged{}, errors.Join(err, undo)
		}
	}
	return Salvaged{Of: s.row.GetHead().GetNextIndex(), Lost: fmt.Errorf("%s: %w", what, err)}, nil
}

// isUnreadable reports whether data are damaged, or cannot be read from the disk.
func isUnreadable(err error) bool {
	return errors.Is(err, storage.ErrCorrupt) || errors.Is(err, storage.ErrDisk)
}

// salvage is the copying of one session.
type salvage struct {
	from, to storage.Store
	row      *storagev1.Session
	// out is the row that is written.
	out *storagev1.Session
	// sequence and index are those of the next record or message.
	sequence, index uint32
	// messages and records were read ahead, taken are not written yet.
	messages []*compactordv1.LoggedMessage
	records  []*storagev1.StoredRecord
	taken    storage.Commit
	bytes    int
	// last is the newest record that was taken.
	last *storagev1.StoredRecord
	lost error
	// unreadableAgain reports that the log, up to where it could be read, could not be read a second time.
	unreadableAgain bool
}

// attempt copies. What cannot be counted, although it was written so, is an error of this session alone.
func (s *salvage) attempt(ctx context.Context) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: reading it panicked with a %T", storage.ErrCorrupt, r)
		}
	}()
	return s.copy(ctx)
}

func (s *salvage) copy(ctx context.Context) error {
	for end := s.row.GetHead().GetNextSequence(); s.sequence < end && s.lost == nil; {
		if s.bytes >= salvageBytes {
			if err := s.write(ctx, s.interim()); err != nil {
				return err
			}
		}
		if err := s.take(ctx); err != nil {
			return err
		}
	}
	if s.sequence == 0 {
		return nil
	}
	head := s.row.GetHead()
	if s.lost != nil {
		var err error
		if head, err = s.headAtEnd(ctx); err != nil {
			s.unreadableAgain = isUnreadable(err)
			return err
		}
		if s.out.GetEnded() != nil && s.out.GetEnded().GetSequence() >= s.sequence {
			// The record of its end is lost.
			s.out.Ended = nil
		}
	}
	return s.write(ctx, head)
}

// take takes the next message or record; where there is none, the log ends here.
func (s *salvage) take(ctx context.Context) error {
	damage, err := s.readAhead(ctx)
	if err != nil {
		return err
	}
	switch {
	case len(s.records) > 0 && s.records[0].GetRecord().GetSequence() == s.sequence:
		s.last = s.records[0]
		s.taken.Records = append(s.taken.Records, s.last)
		s.bytes += proto.Size(s.last)
		s.records = s.records[1:]
	case len(s.messages) > 0 && s.messages[0].GetSequence() == s.sequence:
		s.taken.Messages = append(s.taken.Messages, s.messages[0])
		s.bytes += proto.Size(s.messages[0])
		s.messages = s.messages[1:]
		s.index++
	default:
		if s.lost = damage; damage == nil {
			s.lost = fmt.Errorf("%w: nothing at sequence %d", storage.ErrCorrupt, s.sequence)
		}
		return nil
	}
	s.sequence++
	return nil
}

// readAhead reads what may come next, and returns the damage that it meets.
func (s *salvage) readAhead(ctx context.Context) (damage, err error) {
	ref, head := storage.RefOf(s.row), s.row.GetHead()
	if len(s.records) == 0 {
		for _, limit := range []int{checkChunk, 1} {
			s.records, damage = s.from.Records(ctx, ref, s.sequence, head.GetNextSequence(), limit)
			if !isUnreadable(damage) {
				break
			}
		}
		if damage != nil && !isUnreadable(damage) {
			return nil, damage
		}
	}
	if len(s.messages) == 0 && s.index < head.GetNextIndex() {
		var unread error
		for _, count := range []uint32{checkChunk, 1} {
			end := min(head.GetNextIndex(), s.index+count)
			s.messages, unread = s.from.Messages(ctx, ref, s.index, end, salvageBytes)
			if !isUnreadable(unread) {
				break
			}
		}
		if unread != nil && !isUnreadable(unread) {
			return nil, unread
		}
		damage = errors.Join(damage, unread)
	}
	return damage, nil
}

// interim returns a head for a part of the log. Only its ends matter, since another commit follows.
func (s *salvage) interim() *storagev1.Head {
	head := proto.CloneOf(s.row.GetHead())
	head.NextSequence, head.NextIndex = s.sequence, s.index
	return head
}

// headAtEnd computes the head of a log that ends early: that of the last record, advanced by the messages after it.
func (s *salvage) headAtEnd(ctx context.Context) (*storagev1.Head, error) {
	counter, err := session.CounterFor(s.row.GetEstimator())
	if err != nil {
		return nil, err
	}
	head := proto.CloneOf(s.last.GetHead())
	change, err := policyChangeOf(ctx, s.from, s.row, head)
	if err != nil {
		return nil, err
	}
	if s.out.GetResolvedPolicy() != nil {
		s.out.Policy, s.out.ResolvedPolicy = change.GetGiven(), change.GetResolved()
	}
	for head.GetNextIndex() < s.index {
		messages, err := s.from.Messages(ctx, storage.RefOf(s.row), head.GetNextIndex(), s.index, salvageBytes)
		if err != nil {
			return nil, err
		}
		for _, l := range messages {
			session.Advance(head, counter, change.GetResolved(), l)
		}
	}
	return head, nil
}

// write writes what was taken.
func (s *salvage) write(ctx context.Context, head *storagev1.Head) error {
	s.out.Revision++
	s.out.Head = head
	s.taken.Session = s.out
	write := s.to.Commit
	if s.out.GetRevision() == 1 {
		write, s.out.LogBytes = s.to.CreateSession, 0
	}
	s.out.LogBytes += uint64(s.bytes)
	if err := write(ctx, &s.taken); err != nil {
		return err
	}
	s.taken, s.bytes = storage.Commit{}, 0
	return nil
}
