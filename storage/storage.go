// Package storage keeps the logs of sessions.
//
// A Store does not interpret logs: it stores the rows that it is given, in one transaction each, and returns them. Only a new
// session whose log is too long for that is written in several (Draft), and nobody sees it before it is whole. The
// caller reads a session's row (Session), computes what to write, and commits it on the condition that the row has not
// changed since (Commit). So any number of daemons may serve one session. Messages and records never change once they
// are written. So what is read after the row fits it, without a transaction around both.
//
// Backends pass the conformance suite in storagetest.
package storage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// RememberedRequests is the least number of a session's newest requests that a Store remembers.
const RememberedRequests = 1000

// Kind is a kind of what a Store keeps of a session. Whoever hands out all of a session needs each of them.
type Kind string

// The kinds. All else that a store has of a session can be computed from these.
const (
	// RowKind is the session's row.
	RowKind Kind = "session"
	// MessageKind are its messages, RecordKind its records, and RequestKind the requests that it remembers.
	MessageKind Kind = "message"
	RecordKind  Kind = "record"
	RequestKind Kind = "request"
)

// Kinds returns all kinds.
func Kinds() []Kind { return []Kind{RowKind, MessageKind, RecordKind, RequestKind} }

// Errors that every backend returns, alone or wrapped.
var (
	// ErrNotFound means that no such session, message, record or request exists, or that the session is another
	// incarnation.
	ErrNotFound = errors.New("not found")
	// ErrExists means that a session with this tenant and id exists.
	ErrExists = errors.New("already exists")
	// ErrConflict means that the session's row has changed since it was read. Read it and try again.
	ErrConflict = errors.New("changed meanwhile")
	// ErrRequestKnown means that a request with this id was committed before. Request returns it.
	ErrRequestKnown = errors.New("request already known")
	// ErrClosed means that the store is closed.
	ErrClosed = errors.New("store closed")
	// ErrCorrupt means that the store contains something that no version of this program wrote, or that a newer version
	// wrote.
	ErrCorrupt = errors.New("store corrupt")
	// ErrFull means that the disk, or the configured size, is used up. Nothing was written.
	ErrFull = errors.New("store full")
	// ErrInvalid means that what was to be written is a bug of the caller: it does not follow the log, or it could not
	// be read again, since it has fields or kinds that this version does not know, or text that is not UTF-8. Nothing
	// was written.
	ErrInvalid = errors.New("invalid")
)

// DamagedError is damage of one session's stored data. It wraps ErrCorrupt.
type DamagedError struct {
	Tenant, SessionID string
	// Cause says what is damaged, without content of the conversation.
	Cause error
}

func (d *DamagedError) Error() string { return fmt.Sprintf("session %q: %v", d.SessionID, d.Cause) }

// Unwrap returns the cause.
func (d *DamagedError) Unwrap() error { return d.Cause }

// Ref names one incarnation of a session.
type Ref struct {
	Tenant    string
	SessionID string
	UID       string
}

// RefOf returns the Ref of the row's session.
func RefOf(row *storagev1.Session) Ref {
	return Ref{Tenant: row.GetTenant(), SessionID: row.GetSessionId(), UID: row.GetUid()}
}

// RunsUnderOther reports whether the row names a running compaction of any opening except this one.
func RunsUnderOther(row *storagev1.Session, opening string) bool {
	return slices.ContainsFunc(row.GetRunning(), func(r *storagev1.RunningCompaction) bool {
		return r.GetOpening() != opening
	})
}

// Request is a request to remember, with what it wrote.
type Request struct {
	ID     string
	Stored *storagev1.StoredRequest
}

// Commit is what one operation writes to a session, completely or not at all. Its messages and records together have
// the log's next sequences, without gaps, up to the head's next_sequence; else the commit is ErrInvalid (Validate,
// Follows).
type Commit struct {
	// Session is the row after the operation. The commit succeeds only if its revision is one more than that of the
	// stored row. created_at and parent never change.
	Session *storagev1.Session
	// Changed is changed_at of the row that the commit follows; nil where it is not known. A row that was changed at another time is a
	// conflict: where a database has lost its newest commits, it may have another row with the same revision.
	Changed *timestamppb.Timestamp
	// Messages are appended. Their indexes follow the log's last one, without gaps, up to the head's next_index.
	Messages []*compactordv1.LoggedMessage
	// Records are appended, in order. The store also indexes compaction entries by first_kept_index, and edits by
	// message.
	Records []*storagev1.StoredRecord
	// Request is the request to remember; nil where the client gave no request_id.
	Request *Request
}

// SessionOrder is an order of the sessions in a listing.
type SessionOrder int

// The orders, each newest first.
const (
	ByCreation SessionOrder = iota
	ByChange
)

// SessionQuery asks for a page of sessions.
type SessionQuery struct {
	Tenant string
	// Labels are labels that a session must have, all of them.
	Labels map[string]string
	// Parent is the uid of the parent that a session's row must name; empty: any or none.
	Parent string
	Order  SessionOrder
	// Cursor is the one that the previous page returned; empty for the first page.
	Cursor string
	// Limit is at least 1, else ErrInvalid.
	Limit int
	// Damaged is called for each session whose row is damaged, and the page lacks it. Where Damaged is nil, the error is
	// returned.
	Damaged func(*DamagedError)
}

// IndexedEdits are the edits that one record made to one message.
type IndexedEdits struct {
	Index    uint32
	Sequence uint32
	Edits    []*compactordv1.Edit
}

// Store keeps logs. All methods may be called concurrently. What they return belongs to the caller; they do not change
// or keep what they are given. Where the context ends before the operation takes effect, its cause (context.Cause) is
// returned and nothing is done. After Close every method except Opening returns ErrClosed.
type Store interface {
	// CreateSession writes a new row (revision 1) and the beginning of its log, which starts with a record. It returns
	// ErrExists where the tenant has a session with this id.
	CreateSession(ctx context.Context, c *Commit) error

	// Draft begins to write a session whose log is too long for one commit. It returns ErrExists where the tenant has a session
	// with this id. The caller discards the draft, at the latest before it closes the store.
	Draft(ctx context.Context, ref Ref) (Draft, error)

	// Session returns the row. It returns ErrNotFound where there is no such session.
	Session(ctx context.Context, tenant, sessionID string) (*storagev1.Session, error)

	// Sessions returns a page of rows, newest first, and the cursor of the next page, empty on the last one. Of rows
	// with the same time, the one created last comes first. In the pages of ByChange, each session that is not changed,
	// created or deleted meanwhile occurs exactly once. In those of ByCreation, each one that is not created, deleted
	// or given other labels does. Sessions returns ErrNotFound for a cursor that it did not make for this tenant, order,
	// labels and parent. The time that a page takes does not depend on the number of sessions with another parent.
	Sessions(ctx context.Context, q SessionQuery) (rows []*storagev1.Session, next string, err error)

	// Children returns how many sessions of the tenant have rows that name the parent with this uid. The time that it
	// takes depends on that number alone.
	Children(ctx context.Context, tenant, parentUID string) (int, error)

	// CountSessions returns how many sessions each tenant has that has any.
	CountSessions(ctx context.Context) (map[string]int, error)

	// Commit writes c to disk, completely or not at all, before it returns nil. It returns ErrNotFound where this
	// incarnation no longer exists, else ErrRequestKnown where c.Request was committed before, else ErrConflict where
	// the row's revision is not one less than c.Session's. Any error, except those of a disk that failed, leaves the
	// store as it was.
	Commit(ctx context.Context, c *Commit) error

	// DeleteSession removes the session and its log. It returns ErrNotFound where there is no such session.
	DeleteSession(ctx context.Context, tenant, sessionID string) error

	// Messages returns the messages with indexes from start to end (exclusive) in order. It stops before the size of
	// their encodings together passes maxBytes (0: no limit), but returns at least one. Indexes after the log's end are
	// ignored. It returns ErrNotFound where this incarnation no longer exists.
	Messages(ctx context.Context, ref Ref, start, end uint32, maxBytes int) ([]*compactordv1.LoggedMessage, error)

	// Records returns the records with sequences from start to end (exclusive) in order, at most limit of them (0: no
	// limit). It returns ErrNotFound where this incarnation no longer exists.
	Records(ctx context.Context, ref Ref, start, end uint32, limit int) ([]*storagev1.StoredRecord, error)

	// RecordAtOrBefore returns the newest record with this sequence or a lower one. It returns ErrNotFound where this
	// incarnation no longer exists.
	RecordAtOrBefore(ctx context.Context, ref Ref, sequence uint32) (*storagev1.StoredRecord, error)

	// Compactions returns the records with compaction entries whose sequence is below before (0: no limit), newest
	// first, at most limit of them (0: no limit). It includes those that a Revert put aside. It returns ErrNotFound
	// where this incarnation no longer exists.
	Compactions(ctx context.Context, ref Ref, before uint32, limit int) ([]*storagev1.StoredRecord, error)

	// Edits returns all edits of the messages with indexes from start to end (exclusive), by index and then sequence.
	// It includes those that a Revert put aside. It returns ErrNotFound where this incarnation no longer exists.
	Edits(ctx context.Context, ref Ref, start, end uint32) ([]IndexedEdits, error)

	// Request returns a remembered request. It returns ErrNotFound where there is no such request or no such session.
	Request(ctx context.Context, ref Ref, id string) (*storagev1.StoredRequest, error)

	// Requests returns the remembered requests with ids after one (empty: from the first on), ordered by id, at most limit
	// of them. It returns ErrNotFound where this incarnation no longer exists, and ErrInvalid for a limit below 1.
	Requests(ctx context.Context, ref Ref, after string, limit int) ([]Request, error)

	// Opening returns the name of this opening of the store, by which rows name the compactions that it runs. No other
	// opening has this name. The method cannot fail, and also works after Close.
	Opening() string

	// Abandoned returns the sessions, of all tenants and in any order, whose rows name running compactions of earlier
	// openings: nothing runs these any more. A session whose row is damaged is left out. The time that it takes depends
	// on the number of results, not on the number of sessions.
	Abandoned(ctx context.Context) ([]Ref, error)

	// Close waits for running operations and releases the store's resources. A second call does nothing.
	Close() error
}

// EncodedReader is a Store that returns the encodings of messages, too, for a caller who passes them on.
type EncodedReader interface {
	// EncodedMessages is Messages, and returns the encoding of each LoggedMessage's message; an empty one where the store has
	// it in another form. The texts of a message may be parts of its encoding, which then stays in memory as long as one of
	// them.
	EncodedMessages(
		ctx context.Context, ref Ref, start, end uint32, maxBytes int,
	) (messages []*compactordv1.LoggedMessage, encodings []string, err error)
}

// Problem is something wrong that a check found.
type Problem struct {
	// Tenant and SessionID name the session; empty for the store as a whole.
	Tenant, SessionID string
	// What describes the problem in one sentence, without content of the conversation.
	What string
}

// Checker is a Store that can check its own structure.
type Checker interface {
	// CheckStructure returns all problems below the level of the Store interface.
	CheckStructure(ctx context.Context) ([]Problem, error)
}

// Sizer is a Store that knows its size.
type Sizer interface {
	// Size returns the bytes that the store takes, and how many of them are in use.
	Size(ctx context.Context) (bytes, inUse int64, err error)
}

// Spacer is a Store that knows how much room its disk has.
type Spacer interface {
	// FreeSpace returns the bytes that this process can still write to the file system of the store. The error is
	// errors.ErrUnsupported where the system does not say it.
	FreeSpace() (int64, error)
}

// Statistics are figures of a store, for metrics.
type Statistics struct {
	// Bytes is what the store takes on the disk, and FreeBytes how much of that is free for new data.
	Bytes, FreeBytes int64
	// FreeUnknown reports that not all free pages are known, as after a kill: what is not known is no part of FreeBytes.
	FreeUnknown bool
	// PendingBytes is how much of FreeBytes is not used before the reads have ended that run.
	PendingBytes int64
	// Waiting is how many writes wait for the one that runs.
	Waiting int
	// OldestRead is how long the oldest read that runs has taken so far; 0 where none runs. While it runs, the space of what
	// is deleted or replaced is not used again.
	OldestRead time.Duration
	// OverwriteLag is how long the first content has waited that was freed and is still to be overwritten; 0 where there is
	// none, or where the store does not overwrite.
	OverwriteLag time.Duration
	// OlderKeys is how many keys, beside the one that seals, the store still needs, and RotationRead how many bytes were gone
	// through to seal anew what they have sealed, since the process began; 0 once that is done.
	OlderKeys    int
	RotationRead int64
}

// Committed is what a transaction took that is on the disk.
type Committed struct {
	// Took is the time of the whole transaction, and Disk the part in which pages were written and synced.
	Took, Disk time.Duration
}

// Measured is a Store that measures itself.
type Measured interface {
	// Statistics returns the figures of now. It reads nothing of the store, so that it does not wait for a disk.
	Statistics() Statistics
	// WatchCommits calls fn after each transaction that writes. fn must not block. Only the first call of WatchCommits counts.
	WatchCommits(fn func(Committed))
}

// Connections are those of a store to its database.
type Connections struct {
	// Used and Idle are how many there are, with and without an operation, and Limit how many there can be.
	Used, Idle, Limit int
	// Waiting is how many operations wait for one.
	Waiting int
}

// Connected is a Store that keeps its data in a database.
type Connected interface {
	// Connections returns the figures of now. It asks the database nothing.
	Connections() Connections
}

// Snapshotter is a Store that can be copied to a file while it is in use.
type Snapshotter interface {
	// Snapshot calls use with a file that holds what the store held at one moment, each value checked, and how many
	// sessions there are. It removes the file afterwards. The error is that of use, ErrCorrupt where the store is damaged,
	// or a *DiskError where there is not enough room beside the store.
	Snapshot(ctx context.Context, use func(file *os.File, sessions int) error) error
}
