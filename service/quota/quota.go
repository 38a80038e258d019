// Package quota bounds what each tenant takes of the daemon beside the bounds that hold for all: requests and bytes in a
// second, streams, compactions at once, sessions, and the size of their logs. What goes beyond is refused with
// LIMIT_EXCEEDED and the limit's name, so that one tenant cannot take the others' share: writes before they are made, and
// all else before anything of it is received.
package quota

import (
	"context"
	"errors"
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/tenant"
)

// Limits are what one tenant may take. 0 is no limit.
type Limits struct {
	// RequestsPerSecond bounds the calls that begin. After a quiet second, that many may begin at once.
	RequestsPerSecond float64
	// BytesPerSecond bounds the bytes of requests. A request is not refused for its own size: a large one makes the next
	// ones wait.
	BytesPerSecond float64
	// Streams bounds the streams at once, such as WatchSession, and Compactions the compactions and the reverts with a
	// summary at once, also detached ones.
	Streams, Compactions int
	// Sessions bounds the sessions in the store, and LogBytes the bytes of their logs together. Reads and deletes are never
	// refused for them.
	Sessions, LogBytes int64
	// SessionsKey and LogBytesKey name the settings of these two, for errors.
	SessionsKey, LogBytesKey string
}

// The names of the limits in errors, in the metric and in the configuration.
const (
	RequestsPerSecond = "requests_per_second"
	BytesPerSecond    = "bytes_per_second"
	Streams           = "streams"
	Compactions       = "compactions"
	Sessions          = "sessions"
	LogBytes          = "log_bytes"
)

// Quotas bound all tenants. A nil *Quotas bounds none.
type Quotas struct {
	of      func(tenant string) Limits
	now     func() time.Time
	kept    Kept
	refused *prometheus.CounterVec
	// wake has a signal where unmeasured has tenants.
	wake chan struct{}

	mu sync.Mutex
	// taken has what each tenant takes. Callers name their tenant by a token, so there are few.
	taken map[string]*taken
	// accounts have what each tenant keeps, and unmeasured the tenants whose logs are to be measured.
	accounts   map[string]*account
	unmeasured map[string]bool
}

// taken is what a tenant takes.
type taken struct {
	requests, bytes      bucket
	streams, compactions int
}

// New returns Quotas. of returns the limits of a tenant. now is the clock. metrics may be nil.
func New(
	of func(tenant string) Limits, kept Kept, now func() time.Time, metrics prometheus.Registerer,
) (*Quotas, error) {
	q := &Quotas{
		of: of, now: now, kept: kept, taken: make(map[string]*taken),
		wake: make(chan struct{}, 1), accounts: make(map[string]*account), unmeasured: make(map[string]bool),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "compactord_quota_refused_total",
			Help: "Calls that were refused because their tenant took too much, by limit.",
		}, []string{"limit"}),
	}
	for _, limit := range []string{RequestsPerSecond, BytesPerSecond, Streams, Compactions, Sessions, LogBytes} {
		q.refused.WithLabelValues(limit)
	}
	if metrics == nil {
		return q, nil
	}
	return q, errors.Join(metrics.Register(q.refused), metrics.Register(used{q}))
}

// begin counts a call of the context's tenant, or refuses it.
func (q *Quotas) begin(ctx context.Context) error {
	limits, now := q.of(tenant.Of(ctx)), q.now()
	q.mu.Lock()
	defer q.mu.Unlock()
	t := q.takenBy(ctx)
	if wait := t.bytes.wait(limits.BytesPerSecond, now); wait > 0 {
		return q.refuse(BytesPerSecond, limits.BytesPerSecond, wait)
	}
	if wait := t.requests.wait(limits.RequestsPerSecond, now); wait > 0 {
		return q.refuse(RequestsPerSecond, limits.RequestsPerSecond, wait)
	}
	t.requests.take(1, limits.RequestsPerSecond, now)
	return nil
}

// Received counts the bytes of a request of the context's tenant.
func (q *Quotas) Received(ctx context.Context, bytes int) {
	if q == nil {
		return
	}
	limits, now := q.of(tenant.Of(ctx)), q.now()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.takenBy(ctx).bytes.take(float64(bytes), limits.BytesPerSecond, now)
}

// beginStream counts a stream until leave is called, or refuses it.
func (q *Quotas) beginStream(ctx context.Context) (leave func(), err error) {
	return q.enter(ctx, Streams, q.of(tenant.Of(ctx)).Streams, func(t *taken) *int { return &t.streams })
}

// BeginCompaction counts a compaction of the context's tenant until leave is called, or refuses it.
func (q *Quotas) BeginCompaction(ctx context.Context) (leave func(), err error) {
	if q == nil {
		return func() {}, nil
	}
	return q.enter(ctx, Compactions, q.of(tenant.Of(ctx)).Compactions, func(t *taken) *int { return &t.compactions })
}

// retryFull is when a call should come again that was refused because others were running.
const retryFull = 2 * time.Second

func (q *Quotas) enter(ctx context.Context, name string, limit int, number func(*taken) *int) (leave func(), err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := number(q.takenBy(ctx))
	if limit > 0 && *n >= limit {
		return nil, q.refuse(name, float64(limit), retryFull)
	}
	*n++
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		*n--
	}, nil
}

func (q *Quotas) takenBy(ctx context.Context) *taken {
	name := tenant.Of(ctx)
	if q.taken[name] == nil {
		q.taken[name] = &taken{}
	}
	return q.taken[name]
}

func (q *Quotas) refuse(limit string, value float64, after time.Duration) error {
	q.refused.WithLabelValues(limit).Inc()
	text := strconv.FormatFloat(value, 'f', -1, 64)
	e := apierror.New(compactordv1.ErrorReason_ERROR_REASON_LIMIT_EXCEEDED, map[string]string{"limit": limit, "value": text},
		"the tenant's limit %s of %s is reached: try again later", limit, text)
	e.RetryAfter = after
	return e
}

// bucket is a rate's account. Who has nothing left waits until there is something; what is taken at once may be more than
// what is there.
type bucket struct {
	level float64
	at    time.Time
}

// rounding is more than sums of parts can lack of a whole.
const rounding = 1e-6

// fill adds what has come since the last time: at most what comes in a second, and never less than 1.
func (b *bucket) fill(rate float64, now time.Time) {
	most := max(1, rate)
	if b.at.IsZero() {
		b.level = most
	} else if since := now.Sub(b.at).Seconds(); since > 0 {
		b.level = min(most, b.level+since*rate)
	}
	b.at = now
}

// wait returns how long it takes until something is there; 0 where it is, or where there is no limit.
func (b *bucket) wait(rate float64, now time.Time) time.Duration {
	if rate <= 0 {
		return 0
	}
	b.fill(rate, now)
	if b.level >= 1-rounding {
		return 0
	}
	return time.Duration(math.Ceil((1 - b.level) / rate * float64(time.Second)))
}

func (b *bucket) take(amount, rate float64, now time.Time) {
	if rate <= 0 {
		*b = bucket{}
		return
	}
	b.fill(rate, now)
	b.level -= amount
}
