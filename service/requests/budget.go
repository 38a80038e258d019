package requests

import (
	"context"
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

// The limits that requests can pass, as errors and metrics name them.
const (
	limitOfSize   = "max_message_bytes"
	limitOfValues = "max_request_values"
	limitOfJSON   = "max_json_values"
	limitOfAll    = "max_inflight_bytes"
	limitOfClient = "max_inflight_bytes_of_client"
	limitOfTime   = "arrival_time"
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
	// stalledAfter is how long a request may stop to arrive where others need its memory.
	stalledAfter = time.Second
)

// Budget bounds the memory of the requests in flight: of all together, and of those of each client.
type Budget struct {
	gauge   prometheus.Gauge
	refused *prometheus.CounterVec
	// wide has a place for each request that may arrive in wide pieces.
	wide chan struct{}

	mu sync.Mutex
	// limit is the most bytes of all requests.
	limit   int64
	used    int64
	clients map[net.Addr]int64
	// arriving are the requests that have not arrived as a whole.
	arriving map[*share]struct{}
}

// NewBudget returns a budget of so many bytes, and registers its metrics if metrics is not nil.
func NewBudget(limit int64, metrics prometheus.Registerer) (*Budget, error) {
	b := &Budget{
		limit: limit, clients: make(map[net.Addr]int64), arriving: make(map[*share]struct{}),
		wide: make(chan struct{}, widePassages),
		gauge: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "compactord_requests_in_flight_bytes",
			Help: "Memory that the requests in flight may take, as it is reserved for them.",
		}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "compactord_requests_refused_total",
			Help: "Requests that were refused before they were decoded, by the limit that they would have passed; arrival_time " +
				"counts those that did not arrive.",
		}, []string{"limit"}),
	}
	for _, limit := range []string{
		limitOfSize, limitOfValues, limitOfJSON, limitOfAll, limitOfClient, limitOfTime,
	} {
		b.refused.WithLabelValues(limit)
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

// SetLimit replaces the limit. Requests keep the memory that they have.
func (b *Budget) SetLimit(limit int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.limit = limit
}

// share is the memory that a request has reserved.
type share struct {
	budget *Budget
	client net.Addr
	bytes  int64
	// moved is when a part of a request last arrived, and end ends its call. Both are only for one that is arriving.
	moved time.Time
	end   context.CancelCauseFunc
}

// takeArriving reserves memory for the bytes of a request of a client before they arrive. end ends its call where others
// need the memory and nothing arrives. The caller must call release.
func (b *Budget) takeArriving(client net.Addr, bytes int64, end context.CancelCauseFunc) (*share, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := &share{budget: b, client: client, moved: time.Now(), end: end}
	if err := b.grow(s, bytes); err != nil {
		return nil, err
	}
	b.arriving[s] = struct{}{}
	return s, nil
}

// advance notes that a part of the request has arrived.
func (s *share) advance() {
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	s.moved = time.Now()
}

// expect reserves so many bytes for a request that is still arriving.
func (s *share) expect(bytes int64) error {
	b := s.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	s.moved = time.Now()
	if _, there := b.arriving[s]; !there {
		return exhausted(limitOfAll, b.limit, "the requests that run now")
	}
	return b.grow(s, bytes)
}

// settle changes what a request has reserved that has arrived, now that it is known what it takes.
func (s *share) settle(bytes int64) error {
	b := s.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.grow(s, bytes)
}

// arrived reserves all the memory that a request needs that has arrived.
func (s *share) arrived(bytes int64) error {
	b := s.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, there := b.arriving[s]; !there {
		return exhausted(limitOfAll, b.limit, "the requests that run now")
	}
	delete(b.arriving, s)
	return b.grow(s, bytes)
}

// grow lets a share have so many bytes, if need be in place of requests that do not arrive. The caller holds mu.
func (b *Budget) grow(s *share, bytes int64) error {
	ofClient := b.limit / clientPart
	if bytes > room(bytes, ofClient) {
		return apierror.New(compactordv1.ErrorReason_ERROR_REASON_LIMIT_EXCEEDED, limitData(limitOfClient, ofClient),
			"the request would take about %d bytes of memory, more than any request may: send it in pieces", bytes)
	}
	more := bytes - s.bytes
	for b.clients[s.client]+more > room(bytes, ofClient) {
		if !b.endStalled(s, func(other *share) bool { return other.client == s.client }) {
			return exhausted(limitOfClient, ofClient, "the requests of this connection that run now")
		}
	}
	for b.used+more > room(bytes, b.limit) {
		if !b.endStalled(s, func(*share) bool { return true }) {
			return exhausted(limitOfAll, b.limit, "the requests that run now")
		}
	}
	b.add(s, more)
	return nil
}

// endStalled ends the largest of the requests that have stopped to arrive, of those that may be ended in place of another
// one, and says whether there was any. The caller holds mu.
func (b *Budget) endStalled(needy *share, may func(*share) bool) bool {
	var worst *share
	for s := range b.arriving {
		if s != needy && may(s) && time.Since(s.moved) >= stalledAfter && (worst == nil || s.bytes > worst.bytes) {
			worst = s
		}
	}
	if worst == nil {
		return false
	}
	delete(b.arriving, worst)
	b.add(worst, -worst.bytes)
	worst.end(exhausted(limitOfAll, b.limit, "other requests, while this one did not arrive,"))
	return true
}

// add changes what a share has. The caller holds mu.
func (b *Budget) add(s *share, bytes int64) {
	s.bytes += bytes
	b.used += bytes
	b.gauge.Set(float64(b.used))
	if b.clients[s.client] += bytes; b.clients[s.client] == 0 {
		delete(b.clients, s.client)
	}
}

// release gives the memory back.
func (s *share) release() {
	b := s.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.arriving, s)
	b.add(s, -s.bytes)
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
