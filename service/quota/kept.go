package quota

import (
	"context"
	"errors"
	"math"
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/semaphore"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/tenant"
	"github.com/compactord/compactord/storage"
)

// Use is what a tenant keeps in the store.
type Use struct {
	// Sessions is the number of its sessions, and LogBytes the bytes of their logs.
	Sessions, LogBytes int64
}

func (u Use) plus(other Use) Use {
	return Use{Sessions: u.Sessions + other.Sessions, LogBytes: u.LogBytes + other.LogBytes}
}

func (u Use) minus(other Use) Use {
	return Use{Sessions: u.Sessions - other.Sessions, LogBytes: u.LogBytes - other.LogBytes}
}

// Kept reads what the context's tenant keeps. Its sessions must be left alone meanwhile.
type Kept interface {
	// Count returns what it keeps, and whether there are logs that are not measured yet.
	Count(ctx context.Context) (use Use, unmeasured bool, err error)
	// Measure measures those logs. Each is added to the use by a write of its own.
	Measure(ctx context.Context) error
}

// Growth is what a write adds.
type Growth struct {
	// Use is by how much the tenant's use becomes larger or, where it is negative, smaller.
	Use Use
	// Appended are the bytes that it appends to a log, also to one that is not measured.
	Appended int64
	// Always is whether it is let in also where there is no room. It must not append much.
	Always bool
}

// account is what is known of a tenant's use. It is kept as long as the daemon runs, since all writes of the tenant go
// through it: the store belongs to one daemon alone.
type account struct {
	// writers has room for all writes at once, or for the one count that nobody may write during.
	writers *semaphore.Weighted

	mu sync.Mutex
	// counted is false before the first count, and after a write of which nobody knows whether it has been made.
	counted bool
	// use is what is in the store, and begun what the writes add that have begun.
	use, begun Use
}

// allWriters is more than there ever are at once.
const allWriters = math.MaxInt32

func (q *Quotas) accountOf(name string) *account {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.accounts[name] == nil {
		q.accounts[name] = &account{writers: semaphore.NewWeighted(allWriters)}
	}
	return q.accounts[name]
}

// BeginWrite counts a write of the context's tenant until done is called with its error, or refuses it. The first write of
// a tenant that has a limit waits until its sessions are counted.
func (q *Quotas) BeginWrite(ctx context.Context, g Growth) (done func(error), err error) {
	name := tenant.Of(ctx)
	limits, a := q.of(name), q.accountOf(name)
	if err := a.writers.Acquire(ctx, 1); err != nil {
		return nil, context.Cause(ctx)
	}
	for limits.keeps() && !a.isCounted() {
		a.writers.Release(1)
		if err := q.count(ctx, a); err != nil {
			return nil, err
		}
		if err := a.writers.Acquire(ctx, 1); err != nil {
			return nil, context.Cause(ctx)
		}
	}
	if err := q.admit(a, limits, g); err != nil {
		a.writers.Release(1)
		return nil, err
	}
	return func(err error) {
		a.end(g.Use, err)
		a.writers.Release(1)
	}, nil
}

// BeginDelete lets a deletion of the context's tenant in, until done is called with what it frees, nil where nobody knows
// that, and its error.
func (q *Quotas) BeginDelete(ctx context.Context) (done func(freed *Use, err error), err error) {
	a := q.accountOf(tenant.Of(ctx))
	if err := a.writers.Acquire(ctx, 1); err != nil {
		return nil, context.Cause(ctx)
	}
	return func(freed *Use, err error) {
		a.delete(freed, err)
		a.writers.Release(1)
	}, nil
}

func (l Limits) keeps() bool { return l.Sessions > 0 || l.LogBytes > 0 }

func (a *account) isCounted() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.counted
}

// count counts what the context's tenant keeps. It goes on where the call has ended that asked for it: the next one needs
// it too.
func (q *Quotas) count(ctx context.Context, a *account) error {
	if err := a.writers.Acquire(ctx, allWriters); err != nil {
		return context.Cause(ctx)
	}
	defer a.writers.Release(allWriters)
	if a.isCounted() {
		return nil
	}
	use, unmeasured, err := q.kept.Count(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.counted, a.use, a.begun = true, use, Use{}
	if unmeasured {
		q.measureLater(tenant.Of(ctx))
	}
	return nil
}

func (q *Quotas) admit(a *account, limits Limits, g Growth) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.use.plus(a.begun)
	switch {
	case a.counted && g.Use.Sessions > 0 && limits.Sessions > 0 && now.Sessions+g.Use.Sessions > limits.Sessions:
		return q.refuseKept(Sessions, limits.SessionsKey, limits.Sessions, now.Sessions, g.Use.Sessions)
	case a.counted && g.Appended > 0 && !g.Always && limits.LogBytes > 0 && now.LogBytes+g.Appended > limits.LogBytes:
		return q.refuseKept(LogBytes, limits.LogBytesKey, limits.LogBytes, now.LogBytes, g.Appended)
	}
	a.begun = a.begun.plus(g.Use)
	return nil
}

// end counts a write that has ended.
func (a *account) end(grown Use, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.begun = a.begun.minus(grown)
	switch {
	case err == nil:
		a.use = a.use.plus(grown)
	case errors.Is(err, storage.ErrDisk):
		// It may have been made all the same.
		a.counted = false
	}
}

func (a *account) delete(freed *Use, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case errors.Is(err, storage.ErrDisk) || err == nil && freed == nil:
		a.counted = false
	case err == nil:
		a.use = a.use.minus(*freed)
	}
}

// refuseKept refuses a write. When there will be room again is not known: somebody must delete something.
func (q *Quotas) refuseKept(limit, key string, most, used, adds int64) error {
	q.refused.WithLabelValues(limit).Inc()
	return apierror.New(compactordv1.ErrorReason_ERROR_REASON_LIMIT_EXCEEDED, map[string]string{
		"limit": limit, "value": strconv.FormatInt(most, 10), "used": strconv.FormatInt(used, 10), "key": key,
	}, "the tenant's limit %s of %d (%s) is reached: it uses %d, and this would add %d; delete sessions to go on",
		limit, most, key, used, adds)
}

// measureLater asks Run to measure a tenant's logs.
func (q *Quotas) measureLater(name string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.unmeasured[name] = true
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// Run measures the logs that are not measured yet, of tenants that have a limit, until the context ends. What fails is told
// to failed, and is done again with the next start.
func (q *Quotas) Run(ctx context.Context, failed func(tenant string, err error)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-q.wake:
		}
		q.mu.Lock()
		names := q.unmeasured
		q.unmeasured = make(map[string]bool)
		q.mu.Unlock()
		for name := range names {
			if err := q.kept.Measure(tenant.With(ctx, name)); err != nil && ctx.Err() == nil {
				failed(name, err)
			}
		}
	}
}

var usedDesc = prometheus.NewDesc("compactord_quota_used",
	"What a tenant keeps, by tenant and limit: sessions, log_bytes. Only of tenants that have the limit.",
	[]string{"tenant", "limit"}, nil)

// used are the metrics of what tenants keep.
type used struct{ *Quotas }

// Describe implements prometheus.Collector.
func (used) Describe(descs chan<- *prometheus.Desc) { descs <- usedDesc }

// Collect implements prometheus.Collector.
func (u used) Collect(metrics chan<- prometheus.Metric) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for name, a := range u.accounts {
		limits := u.of(name)
		a.mu.Lock()
		use, counted := a.use, a.counted
		a.mu.Unlock()
		if counted && limits.Sessions > 0 {
			metrics <- prometheus.MustNewConstMetric(usedDesc, prometheus.GaugeValue, float64(use.Sessions), name, Sessions)
		}
		if counted && limits.LogBytes > 0 {
			metrics <- prometheus.MustNewConstMetric(usedDesc, prometheus.GaugeValue, float64(use.LogBytes), name, LogBytes)
		}
	}
}
