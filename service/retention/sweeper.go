package retention

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/genproto/googleapis/rpc/code"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/audit"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/service/tenant"
	"github.com/compactord/compactord/storage"
)

const (
	// every is the time from the end of a sweep to the next one.
	every = 10 * time.Minute
	// pause is the time between two steps of a sweep, in which others write. A step reads a page, or deletes a session.
	pause = 20 * time.Millisecond
	// pageSize is how many rows a step reads.
	pageSize = 100
)

// subject is who the audit log says has deleted the sessions.
const subject = "retention"

// ErrKept says that a session is kept after all: it is in use, or was changed meanwhile.
var ErrKept = errors.New("the session is in use")

// Sessions are the sessions of a daemon. The tenant is that of the context.
type Sessions interface {
	// Tenants returns the tenants that have sessions.
	Tenants(ctx context.Context) ([]string, error)
	// Rows returns a page of a tenant's sessions.
	Rows(ctx context.Context, q storage.SessionQuery) (rows []*storagev1.Session, next string, err error)
	// IsChild reports whether a session is below another one that exists.
	IsChild(ctx context.Context, row *storagev1.Session) (bool, error)
	// Expire deletes a session with those below it, and returns how many of these there were. It returns ErrKept where one of
	// them is in use, or was changed after changedBefore or since the row was read. The zero time is not looked at.
	Expire(ctx context.Context, row *storagev1.Session, changedBefore time.Time) (children uint32, err error)
}

// Options configure a Sweeper.
type Options struct {
	// Policy is the first one. Use replaces it.
	Policy   Policy
	Sessions Sessions
	// Audit has a line for each session that is deleted; nil for none.
	Audit  *audit.Log
	Logger *slog.Logger
	// Now returns the time.
	Now func() time.Time
	// Metrics registers the metric; nil: it is not registered.
	Metrics prometheus.Registerer
}

// Sweeper deletes the sessions that a policy does not keep.
type Sweeper struct {
	Options
	deleted *prometheus.CounterVec
	// policy is the one in force, and changed has a signal where Run has not seen it yet.
	policy  atomic.Pointer[Policy]
	changed chan struct{}
}

// New returns a sweeper.
func New(o Options) (*Sweeper, error) {
	s := &Sweeper{Options: o, deleted: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "compactord_retention_deleted_total",
		Help: "Sessions that were deleted by the rules of retention, with those below them, by rule: age, idle, count.",
	}, []string{"rule"}), changed: make(chan struct{}, 1)}
	s.policy.Store(&o.Policy)
	for _, rule := range []Rule{ByAge, ByIdle, ByCount} {
		s.deleted.WithLabelValues(string(rule))
	}
	if o.Metrics == nil {
		return s, nil
	}
	if err := o.Metrics.Register(s.deleted); err != nil {
		return nil, fmt.Errorf("register metrics: %w", err)
	}
	return s, nil
}

// Use makes another policy the one in force. A sweep that runs goes on by it, and else one begins at once.
func (s *Sweeper) Use(policy Policy) {
	if reflect.DeepEqual(policy, *s.policy.Swap(&policy)) {
		return
	}
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// Run sweeps until the context ends: at once, and then again and again. It waits where all is kept.
func (s *Sweeper) Run(ctx context.Context) {
	for wait(ctx, pause) {
		again := every
		if s.policy.Load().Keeps() {
			again = 0
		} else if err := s.sweep(ctx); err != nil && ctx.Err() == nil {
			s.Logger.ErrorContext(ctx, "retention stopped before its end; it begins again later", "error", err)
		}
		if !s.await(ctx, again) {
			return
		}
	}
}

// await waits for another policy, but no longer than a span, where that is not 0. It returns false once the context has
// ended.
func (s *Sweeper) await(ctx context.Context, span time.Duration) bool {
	var due <-chan time.Time
	if span > 0 {
		timer := time.NewTimer(span)
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-due:
		return true
	case <-s.changed:
		return true
	case <-ctx.Done():
		return false
	}
}

// wait waits for a while, and returns false once the context has ended.
func wait(ctx context.Context, span time.Duration) bool {
	timer := time.NewTimer(span)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// sweep looks at the sessions of all tenants once.
func (s *Sweeper) sweep(ctx context.Context) error {
	tenants, err := s.Sessions.Tenants(ctx)
	if err != nil {
		return err
	}
	for _, name := range tenants {
		if err := s.sweepTenant(tenant.With(ctx, name), name); err != nil {
			return err
		}
	}
	return nil
}

// sweepTenant looks at the sessions of a tenant, those first that were changed last. One that changes meanwhile may not be
// seen; then the others are counted as if there were fewer, and more of them stay.
func (s *Sweeper) sweepTenant(ctx context.Context, name string) error {
	query, kept := storage.SessionQuery{Order: storage.ByChange, Limit: pageSize}, 0
	for s.policy.Load().Of(name) != (Rules{}) {
		rows, next, err := s.Sessions.Rows(ctx, query)
		if err != nil {
			return err
		}
		for _, row := range rows {
			// Another policy may be in force by now, which keeps more.
			stays, err := s.look(ctx, s.policy.Load().Of(name), row, kept)
			if err != nil {
				return err
			}
			if stays {
				kept++
			}
		}
		if query.Cursor = next; next == "" {
			return nil
		}
		if !wait(ctx, pause) {
			return context.Cause(ctx)
		}
	}
	return nil
}

// look deletes a session that breaks a rule, and reports whether it is one that stays and is counted. newer is how many of
// these were changed after it.
func (s *Sweeper) look(ctx context.Context, rules Rules, row *storagev1.Session, newer int) (stays bool, err error) {
	child, err := s.Sessions.IsChild(ctx, row)
	if err != nil || child {
		return false, err
	}
	now := s.Now()
	rule := rules.broken(now, row.GetCreatedAt().AsTime(), row.GetChangedAt().AsTime(), newer)
	if rule == "" {
		return true, nil
	}
	var before time.Time
	if rule == ByIdle {
		before = now.Add(-rules.Idle)
	}
	children, err := s.Sessions.Expire(ctx, row, before)
	stays = errors.Is(err, ErrKept)
	if children == 0 && (stays || apierror.IsSessionNotFound(err)) {
		return stays, nil
	}
	s.note(ctx, row, rule, now, children, err)
	if errors.Is(err, storage.ErrDisk) || ctx.Err() != nil {
		return true, err
	}
	if !wait(ctx, pause) {
		return false, context.Cause(ctx)
	}
	return err != nil, nil
}

// note says in the audit log, the metric and the log what was deleted, or why it was not.
func (s *Sweeper) note(ctx context.Context, row *storagev1.Session, rule Rule, now time.Time, children uint32, err error) {
	e := audit.Entry{
		Time: now, Tenant: row.GetTenant(), Subject: subject, RPC: "SessionService/DeleteSession",
		Session: row.GetSessionId(), Children: children, Code: code.Code_OK.String(), RequestID: sessionlog.NewID(),
	}
	deleted := children
	switch {
	case err == nil:
		deleted++
	case errors.Is(err, ErrKept):
		e.Code = code.Code_ABORTED.String()
	default:
		e.Code = code.Code(apierror.From(err, "").Code()).String()
	}
	s.Audit.Write(ctx, e)
	s.deleted.WithLabelValues(string(rule)).Add(float64(deleted))
	about := []any{"rule", rule, "tenant", row.GetTenant(), "session_id", row.GetSessionId(), "children", children, "request_id", e.RequestID}
	if err != nil {
		s.Logger.WarnContext(ctx, "session not deleted by retention", append(about, "error", err)...)
		return
	}
	s.Logger.InfoContext(ctx, "session deleted by retention", about...)
}
