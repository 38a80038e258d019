package postgres_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// proxy passes on what a store and the server say to each other, and cuts connections.
type proxy struct {
	t      *testing.T
	socket string
	server string

	mu       sync.Mutex
	listener net.Listener
	open     map[net.Conn]bool
	// cutAfter returns after how many bytes of one direction a new connection is cut; 0: never.
	cutAfter func() int64
	running  sync.WaitGroup

	// swallowing says that the answer to the next commit of two messages is not passed on, and swallowed that it was kept back.
	swallowing, swallowed atomic.Bool
}

// swallow ends a connection in place of passing on an answer of the server that says that two rows were inserted and that
// the transaction is over.
func (p *proxy) swallow(answer []byte) bool {
	commits := bytes.Contains(answer, []byte("INSERT 0 2\x00")) && bytes.HasSuffix(answer, []byte("Z\x00\x00\x00\x05I"))
	if !commits || !p.swallowing.CompareAndSwap(true, false) {
		return false
	}
	p.swallowed.Store(true)
	return true
}

// answers copies what the server says.
func (p *proxy) answers(to io.Writer, from io.Reader) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 && p.swallow(buffer[:n]) {
			return
		}
		if _, writing := to.Write(buffer[:n]); writing != nil || err != nil {
			return
		}
	}
}

// through returns a proxy to the database of a URL, and the URL through it.
func through(t *testing.T, database string) (*proxy, string) {
	t.Helper()
	to, err := url.Parse(database)
	require.NoError(t, err)
	query := to.Query()
	folder := t.TempDir()
	p := &proxy{
		t: t, open: map[net.Conn]bool{}, cutAfter: func() int64 { return 0 },
		socket: filepath.Join(folder, ".s.PGSQL.5432"), server: filepath.Join(query.Get("host"), ".s.PGSQL.5432"),
	}
	p.listen()
	t.Cleanup(func() {
		p.close()
		p.running.Wait()
	})
	query.Set("host", folder)
	to.RawQuery = query.Encode()
	return p, to.String()
}

// listen begins to take connections.
func (p *proxy) listen() {
	listener, err := (&net.ListenConfig{}).Listen(p.t.Context(), "unix", p.socket)
	require.NoError(p.t, err)
	p.mu.Lock()
	p.listener = listener
	p.mu.Unlock()
	p.running.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			p.running.Go(func() { p.pass(client) })
		}
	})
}

// close takes no more connections, and cuts those there are.
func (p *proxy) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.listener.Close()
	for conn := range p.open {
		_ = conn.Close()
	}
}

// pass copies both directions of a connection until one ends or is cut.
func (p *proxy) pass(client net.Conn) {
	server, err := (&net.Dialer{}).DialContext(p.t.Context(), "unix", p.server)
	if err != nil {
		_ = client.Close()
		return
	}
	p.mu.Lock()
	p.open[client], p.open[server] = true, true
	limit, fromServer := p.cutAfter(), rand.IntN(2) == 0
	p.mu.Unlock()
	var both sync.WaitGroup
	direction := func(to, from net.Conn, limited bool) {
		both.Go(func() {
			var source io.Reader = from
			if limited && limit > 0 {
				source = io.LimitReader(from, limit)
			}
			p.answers(to, source)
			_ = client.Close()
			_ = server.Close()
		})
	}
	direction(client, server, fromServer)
	direction(server, client, !fromServer)
	both.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, client)
	delete(p.open, server)
}
