package admission

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics count what enters pools, by pool.
type metrics struct {
	waiting, running *prometheus.GaugeVec
	waited           *prometheus.HistogramVec
	refused          *prometheus.CounterVec
}

// waitBuckets are the bounds of the histogram of waits, in seconds.
var waitBuckets = []float64{0.001, 0.01, 0.1, 0.5, 1, 5, 15, 60, 300}

func newMetrics(registerer prometheus.Registerer) (*metrics, error) {
	labels := []string{"pool"}
	m := &metrics{
		waiting: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "compactord_admission_waiting",
			Help: "Calls that wait for room in a pool, by pool.",
		}, labels),
		running: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "compactord_admission_running",
			Help: "Calls that have room in a pool, by pool.",
		}, labels),
		waited: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "compactord_admission_waited_seconds",
			Help:    "How long calls waited for room that did not enter at once, by pool.",
			Buckets: waitBuckets,
		}, labels),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "compactord_admission_refused_total",
			Help: "Calls that were refused because too many waited, by pool.",
		}, labels),
	}
	if registerer == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{m.waiting, m.running, m.waited, m.refused} {
		if err := registerer.Register(c); err != nil {
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	return m, nil
}

// prepare makes the metrics of a pool visible before anything has entered it.
func (m *metrics) prepare(pool string) {
	m.waiting.WithLabelValues(pool)
	m.running.WithLabelValues(pool)
	m.waited.WithLabelValues(pool)
	m.refused.WithLabelValues(pool)
}
