package storage

import (
	"context"
	"fmt"
	"math"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Draft is a new session whose log is too long for one commit, while it is written. Nobody sees anything of it before Create,
// also after a crash. What one leaves behind whose process has ended is removed like the log of a deleted session. Only one
// call at a time may use a Draft.
type Draft interface {
	// Append writes the next messages and records of the log, which begins with a record. They are on the disk before it
	// returns nil. After an error, the draft can only be discarded.
	Append(ctx context.Context, p *LogPiece) error

	// Create makes the session, as CreateSession does, where c has only what follows in the log after the last piece. It
	// returns ErrExists where the tenant has a session with this id meanwhile. The order of the sessions with one time of
	// creation is that in which they were begun.
	Create(ctx context.Context, c *Commit) error

	// Discard removes what was appended, unless Create has made the session. It works after the end of the context, too. A
	// second call does nothing.
	Discard(ctx context.Context)
}

// LogPiece is a part of a log. Its messages and records together have the next sequences, without gaps.
type LogPiece struct {
	Messages []*compactordv1.LoggedMessage
	Records  []*storagev1.StoredRecord
}

// DraftLog checks that the pieces of a draft, and the commit behind them, follow each other. Backends use it.
type DraftLog struct {
	ref Ref
	end logEnd
}

// NewDraftLog returns the check of a log that has no piece yet.
func NewDraftLog(ref Ref) *DraftLog { return &DraftLog{ref: ref} }

// Ref names the session.
func (d *DraftLog) Ref() Ref { return d.ref }

// Next returns the next piece as a commit, in whose row are only the names of the session and the ends of the log. It returns
// ErrInvalid where the piece is wrong by itself, or does not follow the pieces that were appended.
func (d *DraftLog) Next(p *LogPiece) (*Commit, error) {
	messages, records := int64(len(p.Messages)), int64(len(p.Records))
	end := logEnd{index: d.end.index + messages, sequence: d.end.sequence + messages + records}
	if end.sequence > math.MaxUint32 {
		return nil, fmt.Errorf("%w: a log with %d messages and records", ErrInvalid, end.sequence)
	}
	c := &Commit{
		Session: &storagev1.Session{
			Tenant: d.ref.Tenant, SessionId: d.ref.SessionID, Uid: d.ref.UID, Revision: 1,
			Head: &storagev1.Head{NextIndex: uint32(end.index), NextSequence: uint32(end.sequence)},
		},
		Messages: p.Messages, Records: p.Records,
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if d.end == (logEnd{}) {
		return c, c.continues(nil)
	}
	return c, nil
}

// Appended notes that a piece, which Next returned, is written.
func (d *DraftLog) Appended(c *Commit) {
	head := c.Session.GetHead()
	d.end = logEnd{index: int64(head.GetNextIndex()), sequence: int64(head.GetNextSequence())}
}

// Last returns ErrInvalid where a commit is wrong by itself, or is none of the draft's session that follows its pieces.
func (d *DraftLog) Last(c *Commit) error {
	if err := c.Validate(); err != nil {
		return err
	}
	switch start := c.start(); {
	case RefOf(c.Session) != d.ref:
		return fmt.Errorf("%w: a row of another session", ErrInvalid)
	case c.Session.GetRevision() != 1:
		return fmt.Errorf("%w: a new session with revision %d instead of 1", ErrInvalid, c.Session.GetRevision())
	case d.end == (logEnd{}):
		return c.continues(nil)
	case start != d.end:
		return fmt.Errorf("%w: it begins at message %d, sequence %d, and the draft ends at message %d, sequence %d",
			ErrInvalid, start.index, start.sequence, d.end.index, d.end.sequence)
	}
	return nil
}
