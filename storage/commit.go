package storage

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
)

// Validate returns ErrInvalid where the commit is wrong by itself: its row names no session, has no head or names a
// parent without uid, or its messages and records do not end where the head says that the log ends.
func (c *Commit) Validate() error {
	head := c.Session.GetHead()
	switch {
	case c.Session.GetSessionId() == "" || c.Session.GetUid() == "":
		return fmt.Errorf("%w: a row without session id or uid", ErrInvalid)
	case head == nil:
		return fmt.Errorf("%w: a row without head", ErrInvalid)
	case c.Session.GetParent() != nil && c.Session.GetParent().GetUid() == "":
		return fmt.Errorf("%w: a parent without uid", ErrInvalid)
	case c.Session.GetRevision() == 0:
		return fmt.Errorf("%w: a row without revision", ErrInvalid)
	case c.Request != nil && (c.Request.ID == "" || c.Request.Stored == nil):
		return fmt.Errorf("%w: a request without id or content", ErrInvalid)
	}
	start := c.start()
	if start.index < 0 || start.sequence < 0 {
		return fmt.Errorf("%w: more messages and records than the head counts", ErrInvalid)
	}
	return c.validateSequences(start)
}

// logEnd is the next index and the next sequence at a point of the log.
type logEnd struct{ index, sequence int64 }

// start returns where the log must end for the commit to follow it.
func (c *Commit) start() logEnd {
	head := c.Session.GetHead()
	return logEnd{
		index:    int64(head.GetNextIndex()) - int64(len(c.Messages)),
		sequence: int64(head.GetNextSequence()) - int64(len(c.Messages)) - int64(len(c.Records)),
	}
}

// validateSequences checks that messages and records, each ascending, together have sequences without gaps.
func (c *Commit) validateSequences(at logEnd) error {
	messages, records := c.Messages, c.Records
	for len(messages) > 0 || len(records) > 0 {
		switch {
		case len(messages) > 0 && int64(messages[0].GetSequence()) == at.sequence:
			if int64(messages[0].GetIndex()) != at.index {
				return fmt.Errorf("%w: message %d in the place of message %d", ErrInvalid, messages[0].GetIndex(), at.index)
			}
			messages = messages[1:]
			at.index++
		case len(records) > 0 && int64(records[0].GetRecord().GetSequence()) == at.sequence:
			if err := c.validateRecord(records[0]); err != nil {
				return err
			}
			records = records[1:]
		default:
			return fmt.Errorf("%w: no message or record in its place has sequence %d", ErrInvalid, at.sequence)
		}
		at.sequence++
	}
	return nil
}

func (c *Commit) validateRecord(r *storagev1.StoredRecord) error {
	end := c.Session.GetHead().GetNextIndex()
	if kept := r.GetRecord().GetCompaction().GetFirstKeptIndex(); kept > end {
		return fmt.Errorf("%w: a compaction that keeps from message %d of %d", ErrInvalid, kept, end)
	}
	for _, edit := range r.GetRecord().GetPrune().GetEdits() {
		if edit.GetIndex() >= end {
			return fmt.Errorf("%w: an edit of message %d of %d", ErrInvalid, edit.GetIndex(), end)
		}
	}
	return nil
}

// Follows returns ErrConflict where the row that a valid commit replaces was changed at another time than the one that it follows,
// and ErrInvalid where the commit does not begin where the log of that row ends, or changes what never changes. row is nil for a new
// session. The caller compares revisions and uids before, since they have their own errors.
func (c *Commit) Follows(row *storagev1.Session) error {
	if row != nil && c.Changed != nil && !proto.Equal(row.GetChangedAt(), c.Changed) {
		return ErrConflict
	}
	if row == nil && c.Session.GetRevision() != 1 {
		return fmt.Errorf("%w: a new session with revision %d instead of 1", ErrInvalid, c.Session.GetRevision())
	}
	return c.continues(row)
}

// continues is Follows without a look at the revisions.
func (c *Commit) continues(row *storagev1.Session) error {
	start := c.start()
	end := logEnd{index: int64(row.GetHead().GetNextIndex()), sequence: int64(row.GetHead().GetNextSequence())}
	if start != end {
		return fmt.Errorf("%w: it begins at message %d, sequence %d, and the log ends at message %d, sequence %d",
			ErrInvalid, start.index, start.sequence, end.index, end.sequence)
	}
	if row == nil {
		if len(c.Records) == 0 || c.Records[0].GetRecord().GetSequence() != 0 {
			return fmt.Errorf("%w: a log that does not begin with a record", ErrInvalid)
		}
		return nil
	}
	if !proto.Equal(row.GetCreatedAt(), c.Session.GetCreatedAt()) {
		return fmt.Errorf("%w: created_at differs", ErrInvalid)
	}
	if !proto.Equal(row.GetParent(), c.Session.GetParent()) {
		return fmt.Errorf("%w: parent differs", ErrInvalid)
	}
	return nil
}
