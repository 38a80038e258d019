// Package storage keeps the logs of sessions.
//
// A Store knows nothing of what a log means: it keeps the rows that it is given, in one transaction each, and hands
// them back. What is to be written is computed from a session's row (Session) and committed on the condition that the
// row has not changed since (Commit), so any number of daemons may serve one session. Messages and records never
// change once written, so reads made after the row was read fit it without a transaction around them.
//
// Backends pass the conformance suite in storagetest.
package storage

import (
	"context"
	"errors"
	"slices"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// RememberedRequests is how many of a session's newest requests a Store remembers at the least.
const RememberedRequests = 1000

// Errors that every backend returns, alone or wrapped.
var (
	// ErrNotFound: no such session, or another life of it; no such message, record or request.
	ErrNotFound = errors.New("not found")
	// ErrExists: a session with this tenant and id exists.
	ErrExists = errors.New("exists already")
	// ErrConflict: the session's row changed since it was read. Read it again and try anew.
	ErrConflict = errors.New("changed meanwhile")
	// ErrRequestKnown: a request with this id was committed before. Read it with Request.
	ErrRequestKnown = errors.New("request known already")
	// ErrClosed: the store was closed.
	ErrClosed = errors.New("store closed")
	// ErrCorrupt: the store holds what no version of this program wrote, or what a newer one did.
	ErrCorrupt = errors.New("store corrupt")
	// ErrFull: the disk, or the size that was configured, is exhausted. Nothing was written.
	ErrFull = errors.New("store full")
	// ErrInvalid: what was to be written makes no sense, or could not be read again: it does not follow the log, holds
	// fields or kinds that this version does not know, or text that is no UTF-8. A bug of the caller. Nothing was written.
	ErrInvalid = errors.New("invalid")
)

// Ref names one life of a session.
type Ref struct {
	Tenant    string
	SessionID string
	UID       string
}

// RefOf names the session of the row.
func RefOf(row *storagev1.Session) Ref {
	return Ref{Tenant: row.GetTenant(), SessionID: row.GetSessionId(), UID: row.GetUid()}
}

// RunsUnderOther says whether the row names a running compaction of another opening than the one that is named.
func RunsUnderOther(row *storagev1.Session, opening string) bool {
	return slices.ContainsFunc(row.GetRunning(), func(r *storagev1.RunningCompaction) bool {
		return r.GetOpening() != opening
	})
}

// Request is a request to be remembered with what it wrote.
type Request struct {
	ID     string
	Stored *storagev1.StoredRequest
}

// Commit is what one operation writes to a session, whole or not at all. Its messages and records together carry the
// log's next sequences, dense, up to the head's next_sequence; else it is ErrInvalid (Validate, Follows).
type Commit struct {
	// Session is the row after the operation. Its revision must be one more than that of the row it was computed from:
	// the condition of the commit. created_at is fixed.
	Session *storagev1.Session
	// Messages are appended; their indexes follow the log's last, dense, up to the head's next_index.
	Messages []*compactordv1.LoggedMessage
	// Records are appended, in order. The store also files CompactionEntries by first_kept_index and edits by message.
	Records []*storagev1.StoredRecord
	// Request is remembered. Nil where the client gave no request_id.
	Request *Request
}

// SessionOrder is how Sessions sorts.
type SessionOrder int

// The orders, each newest first.
const (
	ByCreation SessionOrder = iota
	ByChange
)

// SessionQuery asks for a page of sessions.
type SessionQuery struct {
	Tenant string
	// Labels that a session must have, all of them.
	Labels map[string]string
	Order  SessionOrder
	// Cursor is the one that the last page returned; empty for the first.
	Cursor string
	// Limit is at least 1, else ErrInvalid.
	Limit int
}

// IndexedEdits are the edits that one record made to one message.
type IndexedEdits struct {
	Index    uint32
	Sequence uint32
	Edits    []*compactordv1.Edit
}

// Store keeps logs. All methods may be called concurrently. What they return belongs to the caller; what they are
// given they do not change or keep. A context that has ended before the operation takes effect is an error
// (context.Cause), and nothing is done. After Close every method returns ErrClosed, but for Opening.
type Store interface {
	// CreateSession writes a new row (revision 1) with the beginning of its log, of which the first is a record. It
	// returns ErrExists where tenant and id are in use.
	CreateSession(ctx context.Context, c *Commit) error

	// Session returns the row. It returns ErrNotFound where there is none.
	Session(ctx context.Context, tenant, sessionID string) (*storagev1.Session, error)

	// Sessions returns a page of rows, newest first (of the same time, the one created last), and the cursor of the next
	// page, empty on the last. A session that is not changed, created or deleted meanwhile comes exactly once in the
	// pages of ByChange, and one that is not created, deleted or given other labels exactly once in those of ByCreation.
	// It returns ErrNotFound for a cursor that it did not make for this tenant, order and labels.
	Sessions(ctx context.Context, q SessionQuery) (rows []*storagev1.Session, next string, err error)

	// Commit writes c on disk, whole or not at all, before it returns nil. It returns ErrNotFound where this life of the
	// session is gone, ErrRequestKnown where c.Request was committed before, else ErrConflict where the row's revision
	// is not one less than c.Session's. Any error but those of a lost disk leaves the store as it was.
	Commit(ctx context.Context, c *Commit) error

	// DeleteSession removes the session and its log. It returns ErrNotFound where there is none.
	DeleteSession(ctx context.Context, tenant, sessionID string) error

	// Messages returns the messages with indexes from start to end (exclusive) in order, and stops early, after at least
	// one, before the size of their encodings together passes maxBytes (0: no limit). Indexes beyond the log's end are left out. It
	// returns ErrNotFound where this life of the session is gone.
	Messages(ctx context.Context, ref Ref, start, end uint32, maxBytes int) ([]*compactordv1.LoggedMessage, error)

	// Records returns the records with sequences from start to end (exclusive) in order, at most limit of them
	// (0: no limit). It returns ErrNotFound where this life of the session is gone.
	Records(ctx context.Context, ref Ref, start, end uint32, limit int) ([]*storagev1.StoredRecord, error)

	// RecordAtOrBefore returns the newest record whose sequence is at most the given one. It returns ErrNotFound where
	// this life of the session is gone.
	RecordAtOrBefore(ctx context.Context, ref Ref, sequence uint32) (*storagev1.StoredRecord, error)

	// Compactions returns the records that hold CompactionEntries with a sequence below before (0: no limit), by
	// descending sequence, at most limit of them (0: no limit), also those that a Revert put aside. It returns
	// ErrNotFound where this life of the session is gone.
	Compactions(ctx context.Context, ref Ref, before uint32, limit int) ([]*storagev1.StoredRecord, error)

	// Edits returns all edits of the messages with indexes from start to end (exclusive), by index and then sequence,
	// also those that a Revert put aside. It returns ErrNotFound where this life of the session is gone.
	Edits(ctx context.Context, ref Ref, start, end uint32) ([]IndexedEdits, error)

	// Request returns what was remembered. It returns ErrNotFound where there is no such request or no such session.
	Request(ctx context.Context, ref Ref, id string) (*storagev1.StoredRequest, error)

	// Opening names this opening of the store, for the compactions that rows say are running. No other opening of it has
	// this name. It is the one method that has nothing to fail with: it answers after Close too.
	Opening() string

	// Abandoned returns the sessions, of all tenants and in any order, whose rows name running compactions of openings that
	// are over: nobody carries these out any more. It costs what it returns, however many sessions there are.
	Abandoned(ctx context.Context) ([]Ref, error)

	// Close waits for the operations that run, and releases what the store holds. A second call does nothing.
	Close() error
}

// Problem is what a check found.
type Problem struct {
	// Tenant and SessionID name the session; empty for the store as a whole.
	Tenant, SessionID string
	// What is wrong, in one sentence, without content of the conversation.
	What string
}

// Checker is a Store that can check its own structure.
type Checker interface {
	// CheckStructure returns all that is wrong below the level of the Store interface.
	CheckStructure(ctx context.Context) ([]Problem, error)
}

// Sizer is a Store that knows its size.
type Sizer interface {
	// Size returns the bytes that the store takes up and those of them in use.
	Size(ctx context.Context) (bytes, inUse int64, err error)
}
