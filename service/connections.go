package service

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	// DefaultMaxConnections is how many connections may be open at once. Each takes some 60 KiB before its first call.
	DefaultMaxConnections = 4096
	// handshakeTimeout is how long a connection may take to its first frame, so that silent ones do not keep others out.
	handshakeTimeout = 20 * time.Second
	// refusalSpell is how long no connection must have been refused before the next one is logged again.
	refusalSpell = time.Minute
)

// connections bounds how many connections are open.
type connections struct {
	most    int
	logger  *slog.Logger
	now     func() time.Time
	refused prometheus.Counter

	mu   sync.Mutex
	open int
	// lastRefusal is zero before the first one.
	lastRefusal time.Time
}

func newConnections(
	most int, logger *slog.Logger, now func() time.Time, metrics prometheus.Registerer,
) (*connections, error) {
	c := &connections{
		most: most, logger: logger, now: now,
		refused: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "compactord_connections_refused_total",
			Help: "Connections that were closed at once because too many were open.",
		}),
	}
	open := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "compactord_connections",
		Help: "Open connections of clients.",
	}, c.count)
	for _, collector := range []prometheus.Collector{open, c.refused} {
		if err := metrics.Register(collector); err != nil {
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	return c, nil
}

func (c *connections) count() float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return float64(c.open)
}

// listener returns a listener that closes connections at once while too many are open. Their clients see UNAVAILABLE,
// and connect again later.
func (c *connections) listener(l net.Listener) net.Listener { return &boundedListener{l, c} }

type boundedListener struct {
	net.Listener
	connections *connections
}

// Accept waits for a connection for which there is room.
func (l *boundedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.connections.enter() {
			return &boundedConn{Conn: conn, leave: sync.OnceFunc(l.connections.leave)}, nil
		}
		_ = conn.Close()
	}
}

// boundedConn is a connection that was counted.
type boundedConn struct {
	net.Conn
	leave func()
}

// Close closes the connection, and makes room for another one.
func (c *boundedConn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}

func (c *connections) enter() bool {
	c.mu.Lock()
	if c.open < c.most {
		c.open++
		c.mu.Unlock()
		return true
	}
	now := c.now()
	begins := c.lastRefusal.IsZero() || now.Sub(c.lastRefusal) > refusalSpell
	c.lastRefusal = now
	c.mu.Unlock()
	c.refused.Inc()
	if begins {
		c.logger.ErrorContext(context.Background(), "too many connections: new ones are closed until others end",
			"max_connections", c.most)
	}
	return false
}

func (c *connections) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open--
}
