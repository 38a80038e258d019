package service

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	// DefaultMaxConnections is how many connections may be open at once. Each takes some 60 KiB before its first call.
	DefaultMaxConnections = 4096
	// DefaultMaxConnectionsOfClient is how many of them may be of one client, so that the others find room. A client has
	// one or a few; behind an address translation there may be many clients.
	DefaultMaxConnectionsOfClient = 1024
	// handshakeTimeout is how long a connection may take to its first frame, so that silent ones do not keep others out.
	handshakeTimeout = 20 * time.Second
	// refusalSpell is how long no connection must have been refused before the next one is logged again.
	refusalSpell = time.Minute
	// networkBits is the part of an IPv6 address that one client cannot choose.
	networkBits = 64
)

// The limits of connections, by their names in metrics and logs.
const (
	limitOfAll    = "max_connections"
	limitOfClient = "max_connections_of_client"
)

// connections bounds how many connections are open: of all, and of each client.
type connections struct {
	logger  *slog.Logger
	now     func() time.Time
	refused *prometheus.CounterVec

	mu                 sync.Mutex
	most, mostOfClient int
	open               int
	// clients has only those that have an open connection.
	clients map[netip.Prefix]int
	// lastRefusal is when a connection was refused last, by limit.
	lastRefusal map[string]time.Time
}

func newConnections(
	most, mostOfClient int, logger *slog.Logger, now func() time.Time, metrics prometheus.Registerer,
) (*connections, error) {
	c := &connections{
		most: most, mostOfClient: mostOfClient, logger: logger, now: now,
		clients: make(map[netip.Prefix]int), lastRefusal: make(map[string]time.Time),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "compactord_connections_refused_total",
			Help: "Connections that were closed at once because too many were open, by limit.",
		}, []string{"limit"}),
	}
	for _, limit := range []string{limitOfAll, limitOfClient} {
		c.refused.WithLabelValues(limit)
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

// limit replaces the bounds. Connections that are open stay open.
func (c *connections) limit(most, mostOfClient int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.most, c.mostOfClient = most, mostOfClient
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
		client, counted := clientOf(conn.RemoteAddr())
		if l.connections.enter(client, counted) {
			return &boundedConn{Conn: conn, leave: sync.OnceFunc(func() { l.connections.leave(client, counted) })}, nil
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

// clientOf returns what stands for a client: its address, or the network of an IPv6 address, within which it can choose
// others. counted is false for programs of this machine, whose connections all have the same address, or none.
func clientOf(addr net.Addr) (client netip.Prefix, counted bool) {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok {
		return netip.Prefix{}, false
	}
	ip := tcp.AddrPort().Addr().Unmap()
	if !ip.IsValid() || ip.IsLoopback() {
		return netip.Prefix{}, false
	}
	bits := ip.BitLen()
	if ip.Is6() {
		bits = networkBits
	}
	client, err := ip.Prefix(bits)
	return client, err == nil
}

func (c *connections) enter(client netip.Prefix, counted bool) bool {
	c.mu.Lock()
	var limit string
	switch {
	case c.open >= c.most:
		limit = limitOfAll
	case counted && c.clients[client] >= c.mostOfClient:
		limit = limitOfClient
	default:
		c.open++
		if counted {
			c.clients[client]++
		}
		c.mu.Unlock()
		return true
	}
	now, last := c.now(), c.lastRefusal[limit]
	begins := last.IsZero() || now.Sub(last) > refusalSpell
	c.lastRefusal[limit] = now
	most, mostOfClient := c.most, c.mostOfClient
	c.mu.Unlock()
	c.refused.WithLabelValues(limit).Inc()
	if begins {
		c.logRefusal(limit, client, most, mostOfClient)
	}
	return false
}

func (c *connections) logRefusal(limit string, client netip.Prefix, most, mostOfClient int) {
	if limit == limitOfClient {
		c.logger.ErrorContext(context.Background(), "too many connections of one client: its new ones are closed until others end",
			limitOfClient, mostOfClient, "client", client.String())
		return
	}
	c.logger.ErrorContext(context.Background(), "too many connections: new ones are closed until others end", limitOfAll, most)
}

func (c *connections) leave(client netip.Prefix, counted bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open--
	if !counted {
		return
	}
	if c.clients[client]--; c.clients[client] == 0 {
		delete(c.clients, client)
	}
}
