package admin_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/compactord/compactord/cmd/compactord/internal/admin"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/service"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serving starts a server and returns what asks it: it returns the status and the body of the answer.
func serving(t *testing.T, o admin.Options) func(method, path string) (int, string) {
	t.Helper()
	o.Metrics, o.Logger = prometheus.NewRegistry(), slog.New(slog.DiscardHandler)
	o.Build = terminal.Build{Version: "v1.2.3", Revision: "abc"}
	if o.Readiness == nil {
		o.Readiness = func(context.Context) []service.Check { return nil }
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- admin.New(o).Serve(ctx, listener) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-done)
	})
	return func(method, path string) (int, string) {
		request, err := http.NewRequestWithContext(t.Context(), method, "http://"+listener.Addr().String()+path, nil)
		require.NoError(t, err)
		request.Close = true
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		body, err := io.ReadAll(response.Body)
		require.NoError(t, errors.Join(err, response.Body.Close()))
		require.Equal(t, "no-store", response.Header.Get("Cache-Control"))
		return response.StatusCode, string(body)
	}
}

func TestWhatOperatorsAsk(t *testing.T) {
	ask := serving(t, admin.Options{})
	for path, want := range map[string]string{"/livez": "ok\n", "/readyz": `{"ready":true,"checks":null}` + "\n"} {
		code, body := ask(http.MethodGet, path)
		require.Equal(t, http.StatusOK, code, path)
		require.Equal(t, want, body)
	}
	code, body := ask(http.MethodGet, "/version")
	require.Equal(t, http.StatusOK, code)
	var build terminal.Build
	require.NoError(t, json.Unmarshal([]byte(body), &build))
	require.Equal(t, terminal.Build{Version: "v1.2.3", Revision: "abc"}, build)
	for _, path := range []string{"/", "/nothing", "/metrics/x", "/debug/pprof/", "/debug/pprof/heap"} {
		code, _ = ask(http.MethodGet, path)
		require.Equal(t, http.StatusNotFound, code, path)
	}
	for _, path := range []string{"/livez", "/readyz", "/metrics", "/version"} {
		code, _ = ask(http.MethodPost, path)
		require.Equal(t, http.StatusMethodNotAllowed, code, path)
	}
}

func TestNotReady(t *testing.T) {
	ask := serving(t, admin.Options{Readiness: func(context.Context) []service.Check {
		return []service.Check{{Name: "a", OK: true}, {Name: "b", Detail: "broken"}, {Name: "c", OK: true}}
	}})
	code, body := ask(http.MethodGet, "/readyz")
	require.Equal(t, http.StatusServiceUnavailable, code)
	require.JSONEq(t, `{"ready":false,"checks":[{"name":"a","ok":true},{"name":"b","ok":false,"detail":"broken"},{"name":"c","ok":true}]}`, body)
	code, _ = ask(http.MethodGet, "/livez")
	require.Equal(t, http.StatusOK, code, "a restart would not help")
}

func TestProfilesAreBounded(t *testing.T) {
	ask := serving(t, admin.Options{Profiles: true})
	for path, want := range map[string]int{
		"/debug/pprof/":                     http.StatusOK,
		"/debug/pprof/heap":                 http.StatusOK,
		"/debug/pprof/goroutine?debug=1":    http.StatusOK,
		"/debug/pprof/profile?seconds=121":  http.StatusBadRequest,
		"/debug/pprof/trace?seconds=1e9":    http.StatusBadRequest,
		"/debug/pprof/profile?seconds=NaN":  http.StatusBadRequest,
		"/debug/pprof/heap?seconds=-1":      http.StatusBadRequest,
		"/debug/pprof/heap?seconds=forever": http.StatusBadRequest,
		"/debug/pprof/cmdline":              http.StatusNotFound,
	} {
		code, _ := ask(http.MethodGet, path)
		require.Equal(t, want, code, path)
	}
}
