package admission

import (
	"container/list"
	"context"
	"sync"
	"sync/atomic"
	"time"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
)

// retryAfter is when a refused call should come again.
const retryAfter = 2 * time.Second

// Pool bounds the work of one kind.
type Pool struct {
	name    string
	size    int
	most    int
	metrics *metrics
	now     func() time.Time
	// rest is how long work rests at its end, as a multiple of how long it had room, where small has grown meanwhile; 0:
	// not at all.
	rest  float64
	small *atomic.Int64

	mu   sync.Mutex
	free int
	// waiting has the *waiter of each call that waits, in the order in which they enter.
	waiting *list.List
}

// waiter is a call that waits.
type waiter struct {
	weight int
	// again: the work has been in the pool before.
	again bool
	// entered is closed when it has entered.
	entered chan struct{}
}

func newPool(name string, o Options, m *metrics) *Pool {
	m.prepare(name)
	return &Pool{
		name: name, size: o.size(), most: o.MaxWaiting, metrics: m, now: o.Now, free: o.size(), waiting: list.New(),
	}
}

// resting makes the work of a new pool rest at its end.
func (p *Pool) resting(small *atomic.Int64, rest float64) *Pool {
	p.small, p.rest = small, rest
	return p
}

// Enter waits until the pool has room for work of this weight. It calls onWait before it waits; nil where nobody wants
// to know. It returns a context for the work, and a permit that the caller must leave. The error is TOO_MANY_WAITING,
// or the cause of the context's end.
//
// Work of a context that has entered a pool already is part of that work, and enters at once.
func (p *Pool) Enter(ctx context.Context, weight int, onWait func()) (context.Context, *Permit, error) {
	if permitOf(ctx) != nil {
		return ctx, &Permit{}, nil
	}
	permit := &Permit{pool: p, weight: min(max(weight, 1), p.size)}
	if !p.tryEnter(permit.weight) {
		w, err := p.join(permit.weight, false)
		if err != nil {
			return nil, nil, err
		}
		if onWait != nil {
			onWait()
		}
		if err := p.await(ctx, w); err != nil {
			return nil, nil, err
		}
	}
	permit.begin()
	return context.WithValue(ctx, permitKey{}, permit), permit, nil
}

// tryEnter enters if there is room and nobody waits.
func (p *Pool) tryEnter(weight int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting.Len() > 0 || p.free < weight {
		return false
	}
	p.admit(weight)
	return true
}

func (p *Pool) admit(weight int) {
	p.free -= weight
	p.metrics.running.WithLabelValues(p.name).Inc()
}

// join begins to wait: at the end, or before those that have not been in the pool where the work has, which is never
// refused.
func (p *Pool) join(weight int, again bool) (*list.Element, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := &waiter{weight: weight, again: again, entered: make(chan struct{})}
	if again {
		at := p.pushAgain(w)
		p.metrics.waiting.WithLabelValues(p.name).Inc()
		p.admitWaiting()
		return at, nil
	}
	if p.waiting.Len() >= p.most {
		p.metrics.refused.WithLabelValues(p.name).Inc()
		return nil, p.tooMany()
	}
	at := p.waiting.PushBack(w)
	p.metrics.waiting.WithLabelValues(p.name).Inc()
	// Room may have been made since it was last looked at.
	p.admitWaiting()
	return at, nil
}

// pushAgain puts work that has been in the pool before those that have not, in the order in which it comes back.
func (p *Pool) pushAgain(w *waiter) *list.Element {
	for at := p.waiting.Front(); at != nil; at = at.Next() {
		if other, _ := at.Value.(*waiter); !other.again {
			return p.waiting.InsertBefore(w, at)
		}
	}
	return p.waiting.PushBack(w)
}

// tooMany returns the error for a call that may not wait.
func (p *Pool) tooMany() error {
	e := apierror.New(compactordv1.ErrorReason_ERROR_REASON_TOO_MANY_WAITING, map[string]string{"pool": p.name},
		"%d calls wait for the daemon's %s already: try again later", p.most, p.name)
	e.RetryAfter = retryAfter
	return e
}

// await waits until the waiter has entered or ctx ends.
func (p *Pool) await(ctx context.Context, at *list.Element) error {
	w, _ := at.Value.(*waiter)
	began := p.now()
	defer func() { p.metrics.waited.WithLabelValues(p.name).Observe(p.now().Sub(began).Seconds()) }()
	select {
	case <-w.entered:
		return nil
	case <-ctx.Done():
		p.withdraw(at, w)
		return context.Cause(ctx)
	}
}

// withdraw ends the waiting of a call that has given up.
func (p *Pool) withdraw(at *list.Element, w *waiter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-w.entered:
		p.release(w.weight)
	default:
		p.waiting.Remove(at)
		p.metrics.waiting.WithLabelValues(p.name).Dec()
		p.admitWaiting()
	}
}

func (p *Pool) leave(weight int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.release(weight)
}

func (p *Pool) release(weight int) {
	p.free += weight
	p.metrics.running.WithLabelValues(p.name).Dec()
	p.admitWaiting()
}

// admitWaiting lets in those that wait, in their order, as far as there is room. Small work does not overtake large
// work, which would else wait for ever.
func (p *Pool) admitWaiting() {
	for at := p.waiting.Front(); at != nil; at = p.waiting.Front() {
		w, _ := at.Value.(*waiter)
		if p.free < w.weight {
			return
		}
		p.waiting.Remove(at)
		p.metrics.waiting.WithLabelValues(p.name).Dec()
		p.admit(w.weight)
		close(w.entered)
	}
}
