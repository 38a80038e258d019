package watching

import (
	"fmt"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/storage"
)

// Watchers are the watchers of sessions on this daemon, by the name of the session. Each write wakes them, and they
// read the new part of the log from the store, so nothing is buffered for them.
type Watchers struct {
	count prometheus.Gauge

	mu     sync.Mutex
	byName map[sessionlog.Name]map[*watcher]struct{}
	closed bool
	// ended is closed when the daemon begins to stop.
	ended chan struct{}
}

// watcher is one client that watches a session.
type watcher struct {
	// ref is the incarnation that it watches.
	ref storage.Ref
	// changed has an element where the session may have been written since it was last received.
	changed chan struct{}
	// events are those of compactions; nil where the client does not want them.
	events chan *compactordv1.CompactionEvent
	// overrun is closed when an event did not fit into events. missed says the same, and is guarded by Watchers.mu.
	overrun chan struct{}
	missed  bool
}

// NewWatchers returns empty Watchers, and registers their metric if metrics is not nil.
func NewWatchers(metrics prometheus.Registerer) (*Watchers, error) {
	ws := &Watchers{
		byName: make(map[sessionlog.Name]map[*watcher]struct{}), ended: make(chan struct{}),
		count: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "compactord_watchers",
			Help: "Clients that watch a session now.",
		}),
	}
	if metrics == nil {
		return ws, nil
	}
	if err := metrics.Register(ws.count); err != nil {
		return nil, fmt.Errorf("register metrics: %w", err)
	}
	return ws, nil
}

// join adds a watcher of an incarnation of a session. At most `events` events can wait for it; 0 means that it wants
// none. The caller must call leave.
func (ws *Watchers) join(name sessionlog.Name, ref storage.Ref, events int) (*watcher, error) {
	joined := &watcher{ref: ref, changed: make(chan struct{}, 1), overrun: make(chan struct{})}
	if events > 0 {
		joined.events = make(chan *compactordv1.CompactionEvent, events)
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.closed {
		return nil, apierror.ErrShuttingDown
	}
	if ws.byName[name] == nil {
		ws.byName[name] = make(map[*watcher]struct{})
	}
	ws.byName[name][joined] = struct{}{}
	ws.count.Inc()
	return joined, nil
}

func (ws *Watchers) leave(name sessionlog.Name, joined *watcher) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.count.Dec()
	delete(ws.byName[name], joined)
	if len(ws.byName[name]) == 0 {
		delete(ws.byName, name)
	}
}

// Watched reports whether anybody watches an incarnation of a session.
func (ws *Watchers) Watched(name sessionlog.Name, uid string) bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for each := range ws.byName[name] {
		if each.ref.UID == uid {
			return true
		}
	}
	return false
}

// Wake wakes the watchers of a session that was written or deleted.
func (ws *Watchers) Wake(name sessionlog.Name) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for each := range ws.byName[name] {
		select {
		case each.changed <- struct{}{}:
		default:
		}
	}
}

// Publish sends an event of a compaction to the watchers of an incarnation. It never waits: a watcher whose events are
// full is overrun, and gets no more of them.
func (ws *Watchers) Publish(name sessionlog.Name, uid string, e *compactordv1.CompactionEvent) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for each := range ws.byName[name] {
		if each.events == nil || each.missed || each.ref.UID != uid {
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
func (ws *Watchers) Close() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if !ws.closed {
		ws.closed = true
		close(ws.ended)
	}
}
