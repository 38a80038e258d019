package service_test

import (
	"context"
	"flag"
	"net"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/grpc/test/bufconn"

	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/service/httpapi/httpapitest"
)

// overHTTP has the tests of this package call over HTTP: go test ./service -over-http=application/json.
var overHTTP = flag.String("over-http", "", "the protocol, as a content type, in which the tests call over HTTP; none: over gRPC")

// notOverHTTP skips a test that looks at what only gRPC has, where the tests call over HTTP.
func notOverHTTP(t *testing.T, reason string) {
	t.Helper()
	if *overHTTP != "" {
		t.Skip("not over HTTP: " + reason)
	}
}

// notAsJSON skips a test of requests that no client can write as JSON, where the tests call with JSON.
func notAsJSON(t *testing.T, reason string) {
	t.Helper()
	if callsWithJSON() {
		t.Skip("not as JSON: " + reason)
	}
}

func callsWithJSON() bool { return strings.Contains(*overHTTP, "json") }

// web is the side of a daemon that serves HTTP, within the process.
type web struct {
	listener *bufconn.Listener
	client   *http.Client
}

// addHTTP makes a server serve HTTP.
func addHTTP(t testing.TB, server *service.Server) *web {
	t.Helper()
	w := &web{listener: bufconn.Listen(256 << 10)}
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	w.client = &http.Client{Transport: &http.Transport{
		Protocols:   &protocols,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return w.listener.DialContext(ctx) },
	}}
	server.AddHTTP(service.HTTPOptions{Listener: w.listener})
	return w
}

func (w *web) conn(protocol httpapitest.Protocol) *httpapitest.Conn {
	return httpapitest.New("http://localhost", w.client, protocol)
}

func (w *web) close() { w.client.CloseIdleConnections() }
