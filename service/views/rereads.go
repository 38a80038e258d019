package views

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// DefaultRereadEvery says of how many rendered views of a dialect one is reread by default.
const DefaultRereadEvery = 100

// Rereads has some rendered lists checked a second time, by their JSON alone: each list that nothing is remembered of, such
// as the first of a session after a start, and one in Every of the others. So a mistake in rendering is noticed that what
// the list was written from does not show. All methods may be called concurrently; nil has every list reread.
type Rereads struct {
	// Every says of how many views of a dialect one is reread.
	Every int

	logger *slog.Logger
	// lists counts the lists that were reread, by dialect and outcome: valid or broken.
	lists *prometheus.CounterVec

	mu sync.Mutex
	// since counts for each dialect the views since the last one that was reread.
	since map[compactordv1.Dialect]int
}

const (
	valid  = "valid"
	broken = "broken"
)

// NewRereads returns Rereads for one view in DefaultRereadEvery in these dialects, and registers their metric if metrics is
// not nil.
func NewRereads(shapes []dialect.Dialect, logger *slog.Logger, metrics prometheus.Registerer) (*Rereads, error) {
	r := &Rereads{
		Every: DefaultRereadEvery, logger: logger, since: make(map[compactordv1.Dialect]int),
		lists: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "compactord_views_reread_total",
			Help: "Rendered views that were checked a second time, by their JSON alone, by dialect and outcome: valid or broken.",
		}, []string{"dialect", "outcome"}),
	}
	for _, shape := range shapes {
		r.lists.WithLabelValues(shape.Name(), valid)
		r.lists.WithLabelValues(shape.Name(), broken)
	}
	if metrics == nil {
		return r, nil
	}
	if err := metrics.Register(r.lists); err != nil {
		return nil, fmt.Errorf("register metrics: %w", err)
	}
	return r, nil
}

// isDue counts a view in a dialect, and reports whether it is reread. known reports that something is remembered of such
// lists of its session.
func (r *Rereads) isDue(kind compactordv1.Dialect, known bool) bool {
	if r == nil {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.since[kind]++; known && r.since[kind] < r.Every {
		return false
	}
	r.since[kind] = 0
	return true
}

// countValid counts a list that was reread and breaks no rule.
func (r *Rereads) countValid(shape dialect.Dialect) {
	if r != nil {
		r.lists.WithLabelValues(shape.Name(), valid).Inc()
	}
}

// report counts and logs a list that breaks a rule which only its JSON shows. The line holds nothing of the conversation.
func (r *Rereads) report(ctx context.Context, shape dialect.Dialect, rule string) {
	if r == nil {
		return
	}
	r.lists.WithLabelValues(shape.Name(), broken).Inc()
	r.logger.ErrorContext(ctx, "a view was refused: its JSON breaks a rule that its parts do not", "dialect", shape.Name(), "rule", rule)
}
