package service

import (
	"errors"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
)

// callers is a listener with connections from these addresses, one after the other.
type callers struct {
	net.Listener
	from []net.Addr
	made []*callerConn
}

var errNoCaller = errors.New("nobody calls")

func (l *callers) Accept() (net.Conn, error) {
	if len(l.from) == 0 {
		return nil, errNoCaller
	}
	ours, theirs := net.Pipe()
	conn := &callerConn{Conn: ours, theirs: theirs, from: l.from[0]}
	l.from, l.made = l.from[1:], append(l.made, conn)
	return conn, nil
}

type callerConn struct {
	net.Conn
	theirs net.Conn
	from   net.Addr
	closed bool
}

func (c *callerConn) RemoteAddr() net.Addr { return c.from }

func (c *callerConn) Close() error {
	c.closed = true
	return errors.Join(c.theirs.Close(), c.Conn.Close())
}

func tcpAddr(text string) net.Addr {
	return &net.TCPAddr{IP: net.ParseIP(text), Port: 1}
}

// One client cannot take the connections of the others. Programs of this machine are not told apart.
func TestConnectionsOfOneClient(t *testing.T) {
	log, registry := &strings.Builder{}, prometheus.NewRegistry()
	c, err := newConnections(20, 2, slog.New(slog.NewTextHandler(log, nil)), time.Now, registry)
	require.NoError(t, err)
	calls := &callers{}
	l := c.listener(calls)
	// accepted lets these clients connect and returns the connections that are open then.
	accepted := func(from ...string) (open []net.Conn) {
		for _, text := range from {
			calls.from = append(calls.from, tcpAddr(text))
		}
		for {
			conn, err := l.Accept()
			if err != nil {
				require.ErrorIs(t, err, errNoCaller)
				return open
			}
			open = append(open, conn)
		}
	}
	refusals := func() map[string]float64 {
		families, err := registry.Gather()
		require.NoError(t, err)
		found := map[string]float64{}
		for _, family := range families {
			for _, m := range family.GetMetric() {
				for _, label := range m.GetLabel() {
					found[label.GetValue()] = m.GetCounter().GetValue()
				}
			}
		}
		return found
	}
	require.Equal(t, map[string]float64{limitOfAll: 0, limitOfClient: 0}, refusals())

	first := accepted("192.0.2.1", "192.0.2.1", "192.0.2.1", "::ffff:192.0.2.1")
	require.Len(t, first, 2)
	require.True(t, calls.made[2].closed)
	require.Len(t, accepted("192.0.2.2", "2001:db8::1", "2001:db8::2", "2001:db8::3", "2001:db8:0:1::1"), 4)
	require.Equal(t, map[string]float64{limitOfAll: 0, limitOfClient: 3}, refusals())
	require.Equal(t, 1, strings.Count(log.String(), "too many connections"), log)
	require.Contains(t, log.String(), "max_connections_of_client=2 client=192.0.2.1/32")

	require.NoError(t, first[0].Close())
	require.NoError(t, first[0].Close())
	require.Len(t, accepted("192.0.2.1", "192.0.2.1"), 1, "one that has ended makes room for one, however often it is closed")
	require.Len(t, accepted("127.0.0.1", "127.0.0.1", "127.0.0.1", "::1", "::1", "::1"), 6)

	calls.from = append(calls.from, &net.UnixAddr{}, &net.UnixAddr{}, &net.UnixAddr{})
	require.Len(t, accepted(), 3)
	require.Len(t, accepted("192.0.2.3", "192.0.2.4", "192.0.2.5", "192.0.2.6", "192.0.2.7"), 5)
	require.Equal(t, map[string]float64{limitOfAll: 0, limitOfClient: 4}, refusals())
	require.Empty(t, accepted("192.0.2.8"), "20 are open")
	require.Equal(t, map[string]float64{limitOfAll: 1, limitOfClient: 4}, refusals())
	for _, conn := range calls.made {
		require.NoError(t, conn.Close())
	}
	require.Contains(t, log.String(), "max_connections=20")
}

// What is kept of a client ends with its last connection.
func TestClientsAreForgotten(t *testing.T) {
	c, err := newConnections(10, 2, slog.New(slog.DiscardHandler), time.Now, prometheus.NewRegistry())
	require.NoError(t, err)
	calls := &callers{from: []net.Addr{tcpAddr("192.0.2.1"), tcpAddr("192.0.2.1"), tcpAddr("192.0.2.2")}}
	l := c.listener(calls)
	for range 3 {
		conn, err := l.Accept()
		require.NoError(t, err)
		defer func() { require.NoError(t, conn.Close()) }()
	}
	require.Len(t, c.clients, 2)
	for client := range c.clients {
		for c.clients[client] > 0 {
			c.leave(client, true)
		}
	}
	require.Empty(t, c.clients)
}
