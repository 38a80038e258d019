// Package unread bounds the memory of answers that clients do not read.
//
// gRPC takes an answer as soon as its handler returns, and keeps it until the client makes room for it on the
// connection. So a client that asks and does not read would pin as much memory as it asks for. Answers counts what gRPC
// still holds for each connection. A call waits before its work while its connection has too much unread, and in the
// end is refused; a connection on which nothing is read for long is closed.
package unread

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
)

// Defaults of Options.
const (
	DefaultConnection = 32 << 20
	DefaultTotal      = 64 << 20
	DefaultPatience   = time.Minute
	DefaultWait       = 10 * time.Second
)

const (
	// smallAnswer is the size up to which an answer is sent without waiting for room, so that errors and the answers of
	// writes come through.
	smallAnswer = 64 << 10
	// idleUnderPressure is how long a connection may read nothing where the room for all of them is used up.
	idleUnderPressure = time.Second
	retryAfter        = time.Second
)

// Options configure Answers.
type Options struct {
	// Connection is the most bytes that may be unread or expected on one connection; Total, on all. One answer alone may
	// have more. The garbage collector lets the heap grow to about twice of what is unread.
	// Defaults DefaultConnection and DefaultTotal.
	Connection, Total int64
	// Patience is how long a client may read nothing while answers wait for it. Default DefaultPatience.
	Patience time.Duration
	// Wait is how long a call waits for room before it is refused. Default DefaultWait.
	Wait time.Duration
	// Logger receives a line for each connection that is closed.
	Logger *slog.Logger
	// Metrics registers the metrics. Nil: they are not registered.
	Metrics prometheus.Registerer
}

// Answers counts the unread answers of all connections of a server.
type Answers struct {
	options Options
	// bytes are the unread bytes, and closed the connections that were closed, by cause.
	bytes  prometheus.GaugeFunc
	closed *prometheus.CounterVec

	mu sync.Mutex
	// total is the unread bytes of all connections, and expected what their running calls may add.
	total, expected int64

	connections map[*connection]struct{}
	// freed is closed, and replaced, when room becomes free.
	freed chan struct{}
}

// New returns Answers without connections.
func New(o Options) (*Answers, error) {
	if o.Connection == 0 {
		o.Connection = DefaultConnection
	}
	if o.Total == 0 {
		o.Total = DefaultTotal
	}
	if o.Patience == 0 {
		o.Patience = DefaultPatience
	}
	if o.Wait == 0 {
		o.Wait = DefaultWait
	}
	a := &Answers{options: o, connections: make(map[*connection]struct{}), freed: make(chan struct{})}
	a.bytes = prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "compactord_unread_answer_bytes",
		Help: "Bytes of answers that clients have not read yet.",
	}, func() float64 { return float64(a.unread()) })
	a.closed = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "compactord_slow_readers_total",
		Help: "Connections closed because the client read nothing: for too long, or while memory was short.",
	}, []string{"cause"})
	for _, cause := range []string{causeTime, causeMemory} {
		a.closed.WithLabelValues(cause)
	}
	if o.Metrics == nil {
		return a, nil
	}
	for _, c := range []prometheus.Collector{a.bytes, a.closed} {
		if err := o.Metrics.Register(c); err != nil {
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	return a, nil
}

// The causes for which connections are closed.
const (
	causeTime   = "time"
	causeMemory = "memory"
)

func (a *Answers) unread() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.total
}

// wake lets the waiting calls look again. The caller holds mu.
func (a *Answers) wake() {
	close(a.freed)
	a.freed = make(chan struct{})
}

// waitFor waits until take, which is called with mu held, succeeds or fails. It returns SLOW_READER where that takes
// longer than limit (0: none), and the cause where the context ends. bytes is the room that it needs.
func (a *Answers) waitFor(
	ctx context.Context, limit time.Duration, bytes int64, take func() (taken bool, err error),
) error {
	var expired <-chan time.Time
	var look *time.Ticker
	for {
		a.mu.Lock()
		taken, err := take()
		freed := a.freed
		a.mu.Unlock()
		if taken || err != nil {
			return err
		}
		if look == nil {
			look = time.NewTicker(idleUnderPressure)
			defer look.Stop()
			if limit > 0 {
				timer := time.NewTimer(limit)
				defer timer.Stop()
				expired = timer.C
			}
		}
		select {
		case <-freed:
		case <-look.C:
			a.relieve(bytes)
		case <-expired:
			return refusal()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// relieve closes the connection with the most unread bytes of those on which nothing is being read, where all
// connections together leave no room for so many bytes. Otherwise a few clients that do not read would keep out all others.
func (a *Answers) relieve(bytes int64) {
	a.mu.Lock()
	var worst *connection
	if a.total+a.expected+bytes > a.options.Total {
		for c := range a.connections {
			idle := c.unread > smallAnswer && time.Since(c.progress) >= idleUnderPressure
			if idle && (worst == nil || c.unread > worst.unread) {
				worst = c
			}
		}
	}
	a.mu.Unlock()
	if worst != nil {
		worst.disconnect(causeMemory)
	}
}

// refusal is the error of a call that found no room.
func refusal() error {
	e := apierror.New(compactordv1.ErrorReason_ERROR_REASON_SLOW_READER, nil,
		"there is no room for this answer: earlier ones have not been read")
	e.RetryAfter = retryAfter
	return e
}
