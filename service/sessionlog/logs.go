package sessionlog

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/types/known/timestamppb"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/tenant"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/tracing"
)

// Logs reads and writes the logs of a store's sessions. All methods may be called concurrently.
type Logs struct {
	store      storage.Store
	strategies *strategies.Registry
	logger     *slog.Logger
	now        func() time.Time
	wrote      func(Name)
	admit      func(context.Context, *Write) (func(error), error)
	deleting   func(context.Context) (func(*storagev1.Session, error), error)
	locks      locks
	// leastOutlined is the size in bytes from which on outlines leave texts out.
	leastOutlined int
	policies      knownPolicies
	keptStates    keptStates
	keptRows      keptRows
}

// Options configure Logs.
type Options struct {
	// Store keeps the logs. Logs does not close it.
	Store storage.Store
	// Strategies plan where compaction is due, so that reports can say whether it helps.
	Strategies *strategies.Registry
	// Logger receives what operators need to know, never content of conversations.
	Logger *slog.Logger
	// Now returns the time. It is written into rows, messages and records.
	Now func() time.Time
	// Wrote is called after each write to a session and after its deletion. It must not wait. May be nil.
	Wrote func(Name)
	// Admit is called before each commit, and can refuse it. done is called with the commit's error when it has ended. May
	// be nil.
	Admit func(ctx context.Context, w *Write) (done func(error), err error)
	// Deleting is called before each deletion, whose error is that of the context. done is called with the row that was
	// deleted, nil where it cannot be read, and the error of the deletion. May be nil.
	Deleting func(ctx context.Context) (done func(*storagev1.Session, error), err error)
	// LeastOutlined is the size in bytes from which on outlines leave texts out. Default LeastOutlined.
	LeastOutlined int
}

// Name identifies a session for locks and watchers, whichever incarnation of it exists.
type Name string

// NameOf returns the name of a session of the calling tenant.
func NameOf(ctx context.Context, sessionID string) Name {
	return Name(tenant.Of(ctx) + "\x00" + sessionID)
}

// New returns the logs of a store.
func New(o Options) *Logs {
	if o.Wrote == nil {
		o.Wrote = func(Name) {}
	}
	if o.Admit == nil {
		o.Admit = func(context.Context, *Write) (func(error), error) { return func(error) {}, nil }
	}
	if o.Deleting == nil {
		o.Deleting = func(context.Context) (func(*storagev1.Session, error), error) {
			return func(*storagev1.Session, error) {}, nil
		}
	}
	return &Logs{
		store: o.Store, strategies: o.Strategies, logger: o.Logger, now: o.Now, wrote: o.Wrote, admit: o.Admit,
		deleting: o.Deleting, leastOutlined: cmp.Or(o.LeastOutlined, LeastOutlined),
	}
}

// Now returns the time to write into the log.
func (l *Logs) Now() *timestamppb.Timestamp { return timestamppb.New(l.now()) }

// NewID returns an id for a new session, record or operation. Later ids sort after earlier ones.
func NewID() string { return uuid.Must(uuid.NewV7()).String() }

// Row reads a session's row. It returns SESSION_NOT_FOUND where no session has this id.
func (l *Logs) Row(ctx context.Context, id string) (*storagev1.Session, error) {
	row, err := l.store.Session(ctx, tenant.Of(ctx), id)
	if err == nil {
		err = l.AddPolicy(ctx, row)
	}
	if errors.Is(err, storage.ErrNotFound) {
		return nil, apierror.SessionNotFound(id)
	}
	if err != nil {
		return nil, err
	}
	return row, nil
}

// Rows returns a page of the tenant's sessions, as storage.Store does. They may lack the policies, which AddPolicy adds.
// Sessions whose rows are damaged are left out and logged: they keep nobody from seeing the others.
func (l *Logs) Rows(ctx context.Context, q storage.SessionQuery) (rows []*storagev1.Session, next string, err error) {
	q.Tenant = tenant.Of(ctx)
	q.Damaged = func(damage *storage.DamagedError) { l.LeaveOut(ctx, damage.SessionID, damage) }
	return l.store.Sessions(ctx, q)
}

// Tenants returns the tenants that have sessions, sorted.
func (l *Logs) Tenants(ctx context.Context) ([]string, error) {
	counts, err := l.store.CountSessions(ctx)
	return slices.Sorted(maps.Keys(counts)), err
}

// LeaveOut logs that a listing lacks a session, since its data is damaged.
func (l *Logs) LeaveOut(ctx context.Context, id string, damage error) {
	l.logger.ErrorContext(ctx, "session left out of a listing: its data is damaged", "session_id", id, "error", damage)
}

// Create writes a new session. It returns storage.ErrExists where its id is in use.
func (l *Logs) Create(ctx context.Context, w *Write) error {
	if err := w.planDue(ctx); err != nil {
		return err
	}
	return l.create(ctx, w, func(context.Context) (func(), error) { return func() {}, nil })
}

// create writes a new session. last is called before its last commit, and can refuse it; the function that it returns is
// called afterwards. A long log that is copied is written before that.
func (l *Logs) create(ctx context.Context, w *Write, last func(context.Context) (end func(), err error)) error {
	return l.committing(ctx, w, func(ctx context.Context, c *storage.Commit) error {
		commit := l.store.CreateSession
		if w.source != nil {
			draft, err := w.writeSource(ctx)
			if err != nil {
				return err
			}
			defer draft.Discard(ctx)
			commit = draft.Create
		}
		end, err := last(ctx)
		if err != nil {
			return err
		}
		defer end()
		return commit(ctx, c)
	})
}

// committing commits a write if it is let in, within a span of its own: it waits for other writes and for the disk.
func (l *Logs) committing(
	ctx context.Context, w *Write, commit func(context.Context, *storage.Commit) error,
) (err error) {
	ctx, span := tracing.Begin(ctx, "commit")
	defer func() { span.EndWith(err) }()
	return withoutPolicy(&w.commit, func(c *storage.Commit) error {
		w.measure()
		done, err := l.admit(ctx, w)
		if err != nil {
			return err
		}
		err = commit(ctx, c)
		done(err)
		return err
	})
}

// Delete deletes a session with its log, and returns the uid of the deleted incarnation. The uid is empty where the row
// cannot be read; the session is deleted anyway. With an error of the disk, too, the uid is that of the incarnation, which
// may be deleted all the same. allow can refuse the deletion: nobody writes to the session or adds a child to it
// meanwhile. It may be nil, and is not asked about a row that cannot be read.
func (l *Logs) Delete(
	ctx context.Context, id string, allow func(row *storagev1.Session) error,
) (uid string, err error) {
	name := NameOf(ctx, id)
	unlock, err := l.locks.lock(ctx, name)
	if err != nil {
		return "", err
	}
	defer unlock()
	row, err := l.Row(ctx, id)
	if apierror.IsSessionNotFound(err) {
		return "", err
	}
	if err == nil && allow != nil {
		if err := allow(row); err != nil {
			return "", err
		}
	}
	done, err := l.deleting(ctx)
	if err != nil {
		return "", err
	}
	err = l.store.DeleteSession(ctx, tenant.Of(ctx), id)
	done(row, err)
	if errors.Is(err, storage.ErrNotFound) {
		return "", apierror.SessionNotFound(id)
	}
	if err != nil && !errors.Is(err, storage.ErrDisk) {
		return "", err
	}
	l.wrote(name)
	l.keptRows.take(name)
	if err != nil {
		return row.GetUid(), err
	}
	l.keptStates.remove(row.GetUid())
	return row.GetUid(), nil
}

// Begin begins a write to a session, whose row the caller has read for that. The write sets changed_at, by which clients see that the session has changed.
func (l *Logs) Begin(row *storagev1.Session) *Write {
	next := cloneRow(row)
	next.Revision++
	next.ChangedAt = l.Now()
	return &Write{logs: l, before: row, commit: storage.Commit{Session: next, Changed: row.GetChangedAt()}}
}

// BeginSession begins to write a new session, whose log begins with its policy, both as given and resolved. Where
// estimator is not set, it is CHARS4.
func (l *Logs) BeginSession(
	ctx context.Context, id string, estimator compactordv1.Estimator, given, resolved *compactordv1.Policy,
) (*Write, error) {
	if estimator == compactordv1.Estimator_ESTIMATOR_UNSPECIFIED {
		estimator = compactordv1.Estimator_ESTIMATOR_CHARS4
	}
	now := l.Now()
	w := l.Begin(&storagev1.Session{
		Tenant: tenant.Of(ctx), SessionId: id, Uid: uuid.NewString(), CreatedAt: now, ChangedAt: now,
		Estimator: estimator, Policy: given, ResolvedPolicy: resolved, Head: session.NewHead(estimator),
	})
	_, err := w.Record(ctx, &compactordv1.Record{Kind: &compactordv1.Record_PolicyChange{
		PolicyChange: &compactordv1.PolicyChange{Given: given, Resolved: resolved},
	}}, nil)
	return w, err
}

// BeginInternal begins a write that clients do not see as a change of the session: it leaves changed_at as it is.
func (l *Logs) BeginInternal(row *storagev1.Session) *Write {
	w := l.Begin(row)
	w.commit.Session.ChangedAt = row.GetChangedAt()
	return w
}
