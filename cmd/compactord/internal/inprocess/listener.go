// Package inprocess connects clients and a server in one process, without a port or a file that others could connect
// to.
package inprocess

import (
	"context"
	"net"
	"sync"
)

// Listener is the server's side. It is safe for concurrent use.
type Listener struct {
	accepted chan net.Conn
	closed   chan struct{}
	close    sync.Once
}

var _ net.Listener = (*Listener)(nil)

// Listen returns a listener that DialContext connects to.
func Listen() *Listener {
	return &Listener{accepted: make(chan net.Conn), closed: make(chan struct{})}
}

// DialContext connects to the server and returns when the server has accepted. The context limits only the dialing.
func (l *Listener) DialContext(ctx context.Context) (net.Conn, error) {
	client, server := net.Pipe()
	var err error
	select {
	case l.accepted <- server:
		return client, nil
	case <-l.closed:
		err = net.ErrClosed
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	return nil, &net.OpError{Op: "dial", Net: address{}.Network(), Addr: address{}, Err: err}
}

// Accept returns the next connection, or net.ErrClosed when the listener is closed.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.accepted:
		return conn, nil
	case <-l.closed:
		return nil, &net.OpError{Op: "accept", Net: address{}.Network(), Addr: address{}, Err: net.ErrClosed}
	}
}

// Close ends waiting calls of Accept and DialContext. Accepted connections stay open.
func (l *Listener) Close() error {
	l.close.Do(func() { close(l.closed) })
	return nil
}

// Addr returns the same address for every listener.
func (l *Listener) Addr() net.Addr { return address{} }

// address has the values that net.Pipe uses for its connections too.
type address struct{}

func (address) Network() string { return "pipe" }
func (address) String() string  { return "pipe" }
