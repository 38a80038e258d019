package requests

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
)

// The limits that requests in flight can pass, as errors and metrics name them.
const (
	limitOfAll    = "max_inflight_bytes"
	limitOfClient = "max_inflight_bytes_of_client"
)

const (
	// clientPart is the part of the budget that one client may take.
	clientPart = 2
	// smallBytes is up to which size requests may also take the last part of a budget, so that some of any size cannot
	// keep all small ones out.
	smallBytes = 64 << 10
	smallPart  = 8
	// retryAfter is when a refused request may be sent again. Most requests take less.
	retryAfter = time.Second
)

// Budget bounds the memory of the requests in flight: of all together, and of those of each client.
type Budget struct {
	limit   int64
	gauge   prometheus.Gauge
	refused *prometheus.CounterVec

	mu      sync.Mutex
	used    int64
	clients map[net.Addr]int64
}

// NewBudget returns a budget of so many bytes, and registers its metrics if metrics is not nil.
func NewBudget(limit int64, metrics prometheus.Registerer) (*Budget, error) {
	b := &Budget{
		limit: limit, clients: make(map[net.Addr]int64),
		gauge: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "compactord_requests_in_flight_bytes",
			Help: "Memory that the requests in flight may take, as it is reserved for them.",
		}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "compactord_requests_refused_total",
			Help: "Requests that were refused before they were decoded, by the limit that they would have passed.",
		}, []string{"limit"}),
	}
	if metrics == nil {
		return b, nil
	}
	for _, c := range []prometheus.Collector{b.gauge, b.refused} {
		if err := metrics.Register(c); err != nil {
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	return b, nil
}

// share is the memory that a request has reserved.
type share struct {
	budget *Budget
	client net.Addr
	bytes  int64
}

// take reserves memory for a request of a client. The caller must call release.
func (b *Budget) take(client net.Addr, bytes int64) (*share, error) {
	ofClient := b.limit / clientPart
	if bytes > room(bytes, ofClient) {
		return nil, apierror.New(compactordv1.ErrorReason_ERROR_REASON_LIMIT_EXCEEDED, limitData(limitOfClient, ofClient),
			"the request would take about %d bytes of memory, more than any request may: send it in pieces", bytes)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.clients[client]+bytes > room(bytes, ofClient):
		return nil, exhausted(limitOfClient, ofClient, "the requests of this connection that run now")
	case b.used+bytes > room(bytes, b.limit):
		return nil, exhausted(limitOfAll, b.limit, "the requests that run now")
	}
	b.used += bytes
	b.clients[client] += bytes
	b.gauge.Set(float64(b.used))
	return &share{budget: b, client: client, bytes: bytes}, nil
}

// release gives the memory back.
func (s *share) release() {
	b := s.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used -= s.bytes
	b.gauge.Set(float64(b.used))
	if b.clients[s.client] -= s.bytes; b.clients[s.client] == 0 {
		delete(b.clients, s.client)
	}
}

// refusal counts the refusal of a request by a limit, and returns it.
func (b *Budget) refusal(err error) error {
	refused := &apierror.Error{}
	if errors.As(err, &refused) && refused.Metadata["limit"] != "" {
		b.refused.WithLabelValues(refused.Metadata["limit"]).Inc()
	}
	return err
}

// room returns how much of a limit may be taken when a request of this size has its memory.
func room(bytes, limit int64) int64 {
	if bytes <= smallBytes {
		return limit
	}
	return limit - limit/smallPart
}

func exhausted(limit string, value int64, by string) *apierror.Error {
	e := apierror.New(compactordv1.ErrorReason_ERROR_REASON_MEMORY_EXHAUSTED, limitData(limit, value),
		"%s leave too little memory for this one: try again", by)
	e.RetryAfter = retryAfter
	return e
}

func limitData(limit string, value int64) map[string]string {
	return map[string]string{"limit": limit, "value": strconv.FormatInt(value, 10)}
}
