// Package admin serves what operators ask a daemon over HTTP: metrics, liveness, readiness, its version and, where it is
// turned on, profiles. Nothing of it has content of conversations.
package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/net/netutil"

	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/service/access"
)

// Limits of the server, whose requests are small.
const (
	timeout        = 10 * time.Second
	maxHeaderBytes = 16 << 10
	maxConnections = 64
	// maxScrapes is how many requests may gather the metrics at a time.
	maxScrapes = 4
)

// Options configure a Server.
type Options struct {
	Metrics *prometheus.Registry
	// Readiness returns the checks of /readyz.
	Readiness func(context.Context) []service.Check
	// Guard asks for tokens. Nil: whoever can connect may ask everything.
	Guard *access.Guard
	// Profiles turns on /debug/pprof/.
	Profiles bool
	Build    terminal.Build
	Logger   *slog.Logger
}

// Server is the HTTP server.
type Server struct{ http *http.Server }

// New returns a server.
func New(o Options) *Server {
	mux := http.NewServeMux()
	// Probes have no tokens, and what they learn is what health says to everybody.
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte("ok\n"))
	})
	mux.HandleFunc("GET /readyz", o.readyz)
	mux.Handle("GET /metrics", o.guarded(access.Read, promhttp.HandlerFor(o.Metrics, promhttp.HandlerOpts{
		EnableOpenMetrics: true, MaxRequestsInFlight: maxScrapes, Timeout: timeout,
	})))
	mux.Handle("GET /version", o.guarded(access.Read, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, o.Build)
	})))
	if o.Profiles {
		handleProfiles(mux, o.guarded)
	}
	return &Server{&http.Server{
		Handler:           private(mux),
		ReadHeaderTimeout: timeout,
		ReadTimeout:       timeout,
		WriteTimeout:      timeout,
		IdleTimeout:       timeout,
		MaxHeaderBytes:    maxHeaderBytes,
		// The server's own log would go to stderr, which may be blocked.
		ErrorLog: slog.NewLogLogger(o.Logger.Handler(), slog.LevelDebug),
	}}
}

// Serve serves until the context ends. It closes the listener.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	// A scrape may be cut off: the next one has the same data.
	stop := context.AfterFunc(ctx, func() { _ = s.http.Close() })
	defer stop()
	if err := s.http.Serve(netutil.LimitListener(listener, maxConnections)); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the admin listener: %w", err)
	}
	return nil
}

// ready is the answer of /readyz.
type ready struct {
	Ready  bool            `json:"ready"`
	Checks []service.Check `json:"checks"`
}

func (o *Options) readyz(w http.ResponseWriter, r *http.Request) {
	status, body := http.StatusOK, ready{Ready: true, Checks: o.Readiness(r.Context())}
	for _, check := range body.Checks {
		if !check.OK {
			status, body.Ready = http.StatusServiceUnavailable, false
		}
	}
	answer(w, status, body)
}

// guarded asks for a token with a role, if the daemon has tokens.
func (o *Options) guarded(role access.Role, handler http.Handler) http.Handler {
	if o.Guard == nil {
		return handler
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		admitted, authenticated := o.Guard.Admits(r.Context(), r.Header["Authorization"], role)
		switch {
		case admitted:
			handler.ServeHTTP(w, r)
		case authenticated:
			http.Error(w, "this needs a token with the role "+role.String(), http.StatusForbidden)
		default:
			w.Header().Set("WWW-Authenticate", `Bearer realm="compactord"`)
			http.Error(w, "the request has no token that this daemon accepts", http.StatusUnauthorized)
		}
	})
}

// private keeps caches and browsers from making more of an answer than it is.
func private(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		handler.ServeHTTP(w, r)
	})
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// Who asks may have gone.
	_ = json.NewEncoder(w).Encode(body)
}
