package unread

import (
	"context"
	"net"
	"time"

	"google.golang.org/grpc/peer"
)

// Listener returns a listener whose connections are counted.
func (a *Answers) Listener(l net.Listener) net.Listener { return &listener{Listener: l, answers: a} }

type listener struct {
	net.Listener
	answers *Answers
}

// Accept waits for a connection.
func (l *listener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &connection{Conn: conn, answers: l.answers}
	l.answers.mu.Lock()
	defer l.answers.mu.Unlock()
	l.answers.connections[c] = struct{}{}
	return c, nil
}

// connection is a client's connection. All but the Conn is guarded by Answers.mu.
type connection struct {
	net.Conn
	answers *Answers
	// unread is the bytes of answers that gRPC holds; expected, those of the answers that running calls may have.
	unread, expected int64
	// progress is when the client last read something, or began to have something unread.
	progress time.Time
	// timer fires where the client reads nothing; nil before it is needed.
	timer *time.Timer
	// gone: the connection is closed. disconnected: we have decided to close it.
	gone, disconnected bool
}

// address leads from a call to its connection.
type address struct {
	net.Addr
	connection *connection
}

// RemoteAddr returns the address of the client.
func (c *connection) RemoteAddr() net.Addr { return &address{c.Conn.RemoteAddr(), c} }

// connectionOf returns the connection of a call; nil where its listener is not ours.
func connectionOf(ctx context.Context) *connection {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return nil
	}
	if ours, ok := p.Addr.(*address); ok {
		return ours.connection
	}
	return nil
}

// Close closes the connection. What was unread is freed with it.
func (c *connection) Close() error {
	a := c.answers
	a.mu.Lock()
	if !c.gone {
		c.gone = true
		a.total -= c.unread
		a.expected -= c.expected
		c.unread, c.expected = 0, 0
		if c.timer != nil {
			c.timer.Stop()
		}
		delete(a.connections, c)
		a.wake()
	}
	a.mu.Unlock()
	return c.Conn.Close()
}

// expect waits until the connection, and all of them together, have room for an answer of so many bytes, and keeps it.
// Other connections do not matter where the answer is small.
func (c *connection) expect(ctx context.Context, bytes int64) error {
	o := c.answers.options
	return c.answers.waitFor(ctx, o.Wait, bytes, func() (bool, error) {
		if c.gone && bytes > 0 {
			// All that waited would run at once, for nobody.
			return false, refusal()
		}
		used, all := c.unread+c.expected, c.answers.total+c.answers.expected
		if !c.gone && (used > 0 && used+bytes > o.Connection || bytes > 0 && all > 0 && all+bytes > o.Total) {
			return false, nil
		}
		c.expects(bytes)
		return true, nil
	})
}

// expects changes how many bytes of answers are expected. The caller holds Answers.mu.
func (c *connection) expects(bytes int64) {
	if !c.gone {
		c.expected += bytes
		c.answers.expected += bytes
	}
}

// unexpect gives back what expect has kept.
func (c *connection) unexpect(bytes int64) {
	if bytes == 0 {
		return
	}
	c.answers.mu.Lock()
	defer c.answers.mu.Unlock()
	if !c.gone {
		c.expects(-bytes)
		c.answers.wake()
	}
}

// hold counts an answer as unread once there is room for it, in place of the bytes that were expected. What other
// running calls expect does not matter: an answer that waits must not wait for those that wait as well.
func (c *connection) hold(ctx context.Context, limit time.Duration, expected, bytes int64) error {
	o := c.answers.options
	return c.answers.waitFor(ctx, limit, bytes, func() (bool, error) {
		if c.gone && bytes > smallAnswer {
			return false, refusal()
		}
		fits := (c.unread == 0 || c.unread+bytes <= o.Connection) &&
			(c.answers.total == 0 || c.answers.total+bytes <= o.Total)
		if !c.gone && bytes > smallAnswer && !fits {
			return false, nil
		}
		if !c.gone {
			c.expects(-expected)
			c.add(bytes)
			if expected > bytes {
				c.answers.wake()
			}
		}
		return true, nil
	})
}

// take counts an answer as unread without waiting.
func (c *connection) take(bytes int64) {
	c.answers.mu.Lock()
	defer c.answers.mu.Unlock()
	if !c.gone {
		c.add(bytes)
	}
}

// add counts unread bytes. The caller holds Answers.mu.
func (c *connection) add(bytes int64) {
	if c.unread == 0 {
		c.progress = time.Now()
		if c.timer == nil {
			c.timer = time.AfterFunc(c.answers.options.Patience, c.overdue)
		} else {
			c.timer.Reset(c.answers.options.Patience)
		}
	}
	c.unread += bytes
	c.answers.total += bytes
}

// advance notes that the client has read something, and frees bytes.
func (c *connection) advance(bytes int64) {
	c.answers.mu.Lock()
	defer c.answers.mu.Unlock()
	if c.gone {
		return
	}
	c.progress = time.Now()
	if bytes == 0 {
		return
	}
	c.unread -= bytes
	c.answers.total -= bytes
	c.answers.wake()
}

// overdue disconnects the client if it has read nothing for too long.
func (c *connection) overdue() {
	c.answers.mu.Lock()
	patience := c.answers.options.Patience
	idle := time.Since(c.progress)
	slow := !c.gone && c.unread > 0 && idle >= patience
	if !c.gone && c.unread > 0 && !slow {
		c.timer.Reset(patience - idle)
	}
	c.answers.mu.Unlock()
	if slow {
		c.disconnect(causeTime)
	}
}

func (c *connection) disconnect(cause string) {
	a := c.answers
	a.mu.Lock()
	bytes, ended := c.unread, c.gone || c.disconnected
	c.disconnected = true
	a.mu.Unlock()
	if ended {
		return
	}
	a.closed.WithLabelValues(cause).Inc()
	a.options.Logger.Warn("client disconnected: it does not read its answers",
		"client", c.Conn.RemoteAddr().String(), "unread_bytes", bytes, "cause", cause)
	// gRPC closes it again, and ends its calls.
	_ = c.Close()
}
