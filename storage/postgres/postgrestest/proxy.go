package postgrestest

import (
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Proxy passes on what clients and the server say to each other, and cuts connections.
type Proxy struct {
	t      testing.TB
	socket string
	server string

	mu       sync.Mutex
	listener net.Listener
	open     map[net.Conn]bool
	// cutAfter returns after how many bytes of one direction a new connection is cut; nil: never.
	cutAfter func() int64
	// swallow says whether to end a connection in place of passing on what the server has said; nil: never.
	swallow func(answer []byte) bool
	running sync.WaitGroup
}

// passOn copies what one side says.
func passOn(to io.Writer, from io.Reader, swallow func([]byte) bool) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 && swallow != nil && swallow(buffer[:n]) {
			return
		}
		if _, writing := to.Write(buffer[:n]); writing != nil || err != nil {
			return
		}
	}
}

// Through returns a proxy to the database of a URL, and the URL through it. The test ends it.
func Through(t testing.TB, database string) (*Proxy, string) {
	t.Helper()
	to, err := url.Parse(database)
	require.NoError(t, err)
	query := to.Query()
	folder := t.TempDir()
	p := &Proxy{
		t: t, open: map[net.Conn]bool{},
		socket: filepath.Join(folder, ".s.PGSQL.5432"), server: filepath.Join(query.Get("host"), ".s.PGSQL.5432"),
	}
	p.Listen()
	t.Cleanup(func() {
		p.Close()
		p.running.Wait()
	})
	query.Set("host", folder)
	to.RawQuery = query.Encode()
	return p, to.String()
}

// CutAfter has each new connection cut after a number of bytes of one direction.
func (p *Proxy) CutAfter(bytes func() int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cutAfter = bytes
}

// Swallow has new connections ended in place of passing on what the server has said, where a function says so.
func (p *Proxy) Swallow(swallow func(answer []byte) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.swallow = swallow
}

// Listen begins to take connections again after Close.
func (p *Proxy) Listen() {
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

// Close takes no more connections, and cuts those there are.
func (p *Proxy) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.listener.Close()
	for conn := range p.open {
		_ = conn.Close()
	}
}

// pass copies both directions of a connection until one ends or is cut.
func (p *Proxy) pass(client net.Conn) {
	server, err := (&net.Dialer{}).DialContext(p.t.Context(), "unix", p.server)
	if err != nil {
		_ = client.Close()
		return
	}
	p.mu.Lock()
	p.open[client], p.open[server] = true, true
	swallow := p.swallow
	limit, fromServer := int64(0), rand.IntN(2) == 0
	if p.cutAfter != nil {
		limit = p.cutAfter()
	}
	p.mu.Unlock()
	var both sync.WaitGroup
	direction := func(to, from net.Conn, limited bool) {
		both.Go(func() {
			var source io.Reader = from
			if limited && limit > 0 {
				source = io.LimitReader(from, limit)
			}
			passOn(to, source, swallow)
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
