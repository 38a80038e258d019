package watching

import (
	"fmt"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/sessionlog"
)

// Watchers are those who watch sessions on this daemon, by the names that logs know them by. They are woken by each write;
// what was written they read from the store, so that nothing is buffered for them.
type Watchers struct {
	count prometheus.Gauge

	mu     sync.Mutex
	byName map[sessionlog.Name]map[*watcher]struct{}
	closed bool
	// ended is closed when the daemon begins to stop.
	ended chan struct{}
}

// watcher is one who watches a session.
type watcher struct {
	uid string
	// changed holds an element where something may have been written since it was last taken out.
	changed chan struct{}
	// events are those of compactions; nil for a watcher that does not want them.
	events chan *compactordv1.CompactionEvent
	// overrun is closed when events has had no room for one; missed says so under the lock of all watchers.
	overrun chan struct{}
	missed  bool
}

// NewWatchers returns no watchers, and registers their metric; nil: nobody wants it.
func NewWatchers(metrics prometheus.Registerer) (*Watchers, error) {
	w := &Watchers{
		byName: make(map[sessionlog.Name]map[*watcher]struct{}), ended: make(chan struct{}),
		count: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "compactord_watchers",
			Help: "Clients that watch a session now.",
		}),
	}
	if metrics == nil {
		return w, nil
	}
	if err := metrics.Register(w.count); err != nil {
		return nil, fmt.Errorf("register metrics: %w", err)
	}
	return w, nil
}

// join begins to watch an incarnation of a session, with room for so many events (0: none are wanted). leave must be called.
func (w *Watchers) join(name sessionlog.Name, uid string, events int) (*watcher, error) {
	mine := &watcher{uid: uid, changed: make(chan struct{}, 1), overrun: make(chan struct{})}
	if events > 0 {
		mine.events = make(chan *compactordv1.CompactionEvent, events)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, apierror.ErrShuttingDown
	}
	if w.byName[name] == nil {
		w.byName[name] = make(map[*watcher]struct{})
	}
	w.byName[name][mine] = struct{}{}
	w.count.Inc()
	return mine, nil
}

func (w *Watchers) leave(name sessionlog.Name, mine *watcher) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count.Dec()
	delete(w.byName[name], mine)
	if len(w.byName[name]) == 0 {
		delete(w.byName, name)
	}
}

// Wake tells the watchers of a session that it was written to or deleted.
func (w *Watchers) Wake(name sessionlog.Name) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for each := range w.byName[name] {
		select {
		case each.changed <- struct{}{}:
		default:
		}
	}
}

// Publish hands an event of a compaction to the watchers of an incarnation of a session. It never waits: a watcher without room
// for the event is overrun, and gets no more of them.
func (w *Watchers) Publish(name sessionlog.Name, uid string, e *compactordv1.CompactionEvent) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for each := range w.byName[name] {
		if each.events == nil || each.missed || each.uid != uid {
			continue
		}
		select {
		case each.events <- e:
		default:
			each.missed = true
			close(each.overrun)
		}
	}
}

// Close ends all watchers and refuses new ones.
func (w *Watchers) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.closed = true
		close(w.ended)
	}
}
