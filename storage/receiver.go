package storage

import (
	"context"
	"errors"
	"fmt"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
)

// ErrUnfinished means that a store is to become the copy of another one, and lacks a part of it yet.
var ErrUnfinished = errors.New("the copying into this store has not ended")

// Receiver is a Store that can take over the sessions of another one, with their uids and revisions. Nobody else may use
// it meanwhile.
type Receiver interface {
	Store

	// Receiving reports whether a part is still missing: SetReceiving(true) was called, maybe by an earlier process, and
	// SetReceiving(false) was not called since. Meanwhile the store opens for nothing else.
	Receiving(ctx context.Context) (bool, error)

	// SetReceiving says that sessions are to be taken over, or that all are there. It is on the disk before nil is returned.
	SetReceiving(ctx context.Context, receiving bool) error

	// Receive writes a piece of a session, completely or not at all. It returns ErrExists for a first piece where the tenant
	// has a session with this id, and for another one ErrNotFound where this incarnation does not exist, and ErrConflict
	// where the row has not the revision of the piece before.
	Receive(ctx context.Context, p *Piece) error
}

// Piece is a part of a session that another store holds.
type Piece struct {
	// Commit has the row after the piece, and the messages and records that it adds. Its Request is nil.
	Commit
	// Previous is the revision of the row after the piece before, which is lower; 0 for the first piece.
	Previous uint32
	// Requests are remembered requests.
	Requests []ReceivedRequest
}

// ReceivedRequest is a remembered request. Those with the lowest revisions are forgotten first; each has its own.
type ReceivedRequest struct {
	Request
	Revision uint32
}

// Validate returns ErrInvalid where the piece is wrong by itself.
func (p *Piece) Validate() error {
	switch {
	case p.Request != nil:
		return fmt.Errorf("%w: a piece with the request of a commit", ErrInvalid)
	case p.Previous >= p.Session.GetRevision():
		return fmt.Errorf("%w: revision %d after revision %d", ErrInvalid, p.Session.GetRevision(), p.Previous)
	}
	for _, r := range p.Requests {
		if r.ID == "" || r.Stored == nil || r.Revision == 0 {
			return fmt.Errorf("%w: a request without id, content or revision", ErrInvalid)
		}
	}
	return p.Commit.Validate()
}

// Follows is that of a Commit, except for the revisions.
func (p *Piece) Follows(row *storagev1.Session) error { return p.continues(row) }
