package service_test

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/test/bufconn"

	"github.com/compactord/compactord/service"
)

// addPage adds HTTP with an origin and a name that are allowed, in place of that of the harness.
func addPage(t *testing.T) *web {
	t.Helper()
	o := optionsOf(t)
	server, err := service.NewServer(o)
	require.NoError(t, err)
	w := &web{listener: bufconn.Listen(256 << 10)}
	w.client = &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return w.listener.DialContext(ctx) },
	}}
	server.AddHTTP(service.HTTPOptions{
		Listener: w.listener, Hosts: []string{"box.example"}, Origins: []string{"https://app.example", "http://app.example:5173"},
	})
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx, bufconn.Listen(1<<16)) }()
	t.Cleanup(func() {
		w.close()
		cancel()
		require.NoError(t, <-done)
		require.NoError(t, o.Store.Close())
	})
	return w
}

// webAnswer is an answer without its body.
type webAnswer struct {
	StatusCode int
	Header     http.Header
}

// ask sends a request with a Host, and returns the answer.
func (w *web) ask(t *testing.T, method, host string, header map[string]string) webAnswer {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, "http://localhost/compactord.v1.SessionService/ListSessions", strings.NewReader("{}"))
	require.NoError(t, err)
	request.Host = host
	for name, value := range header {
		request.Header.Set(name, value)
	}
	response, err := w.client.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return webAnswer{response.StatusCode, response.Header}
}

// A name that a web page has pointed at this machine opens nothing, so that the page cannot call by its own origin.
func TestHostsOverHTTP(t *testing.T) {
	t.Parallel()
	w := addPage(t)
	for host, allowed := range map[string]bool{
		"localhost": true, "localhost:7442": true, "LOCALHOST": true, "localhost.": true, "127.0.0.1:7442": true, "[::1]:7442": true, "[::1]": true,
		"10.0.0.7:7442": true, "box.example": true, "box.example:7442": true, "BOX.example": true,
		"evil.example": false, "evil.example:7442": false, "localhost.evil.example": false, "127.0.0.1.evil.example": false,
		"xbox.example": false, "box.example.evil": false, "2130706433": false, "0x7f.1": false,
	} {
		for _, method := range []string{http.MethodPost, http.MethodOptions, http.MethodGet} {
			response := w.ask(t, method, host, map[string]string{"Content-Type": "application/json", "Origin": "http://" + host})
			require.Equal(t, !allowed, response.StatusCode == http.StatusForbidden, "%s %s: %d", method, host, response.StatusCode)
		}
	}
}

// Pages of other origins can neither call nor read, and those that are allowed can do both.
func TestOriginsOverHTTP(t *testing.T) {
	t.Parallel()
	w := addPage(t)
	for origin, allowed := range map[string]bool{
		"https://app.example": true, "http://app.example:5173": true,
		"http://app.example": false, "https://app.example:8443": false, "https://sub.app.example": false, "https://app.example.evil": false,
		"null": false, "https://evil.example": false, "http://localhost:3000": false, "https://localhost:7442": false, "file://": false, "*": false,
	} {
		response := w.ask(t, http.MethodPost, "localhost:7442", map[string]string{"Content-Type": "application/json", "Origin": origin})
		if !allowed {
			require.Equal(t, http.StatusForbidden, response.StatusCode, origin)
			require.Empty(t, response.Header.Get("Access-Control-Allow-Origin"), origin)
		} else {
			require.Equal(t, http.StatusOK, response.StatusCode, origin)
			require.Equal(t, origin, response.Header.Get("Access-Control-Allow-Origin"))
			require.Contains(t, response.Header.Get("Access-Control-Expose-Headers"), "Grpc-Status")
		}
		require.Equal(t, "Origin", response.Header.Get("Vary"), origin)
		require.Empty(t, response.Header.Get("Access-Control-Allow-Credentials"), origin)

		preflight := w.ask(t, http.MethodOptions, "localhost:7442", map[string]string{
			"Origin": origin, "Access-Control-Request-Method": http.MethodPost,
			"Access-Control-Request-Headers": "authorization,connect-protocol-version,content-type,x-grpc-web",
		})
		if !allowed {
			require.Equal(t, http.StatusForbidden, preflight.StatusCode, origin)
			require.Empty(t, preflight.Header.Get("Access-Control-Allow-Methods"), origin)
			continue
		}
		require.Equal(t, http.StatusNoContent, preflight.StatusCode, origin)
		require.Contains(t, preflight.Header.Get("Access-Control-Allow-Methods"), http.MethodPost)
		for _, name := range []string{"Authorization", "Connect-Protocol-Version", "Connect-Timeout-Ms", "Content-Type", "X-Grpc-Web", "Grpc-Timeout", "X-User-Agent"} {
			require.Contains(t, preflight.Header.Get("Access-Control-Allow-Headers"), name)
		}
	}
	own := w.ask(t, http.MethodPost, "localhost:7442", map[string]string{"Content-Type": "application/json", "Origin": "http://localhost:7442"})
	require.Equal(t, http.StatusOK, own.StatusCode, "a page of the daemon itself")
}
