package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Limits of the metrics server, whose requests are small.
const (
	metricsTimeout = 10 * time.Second
	metricsHeader  = 16 << 10
)

func listenMetrics(ctx context.Context, where string) (net.Listener, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", where)
	if err != nil {
		return nil, fmt.Errorf("cannot serve metrics on %s: %w", where, cause(err))
	}
	return listener, nil
}

// serveMetrics serves /metrics until the context ends.
func serveMetrics(ctx context.Context, listener net.Listener, registry *prometheus.Registry) error {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true}))
	server := &http.Server{
		Handler:           mux,
		ReadHeaderTimeout: metricsTimeout,
		ReadTimeout:       metricsTimeout,
		WriteTimeout:      metricsTimeout,
		IdleTimeout:       metricsTimeout,
		MaxHeaderBytes:    metricsHeader,
	}
	// A scrape may be cut off: the next one has the same data.
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve metrics: %w", err)
	}
	return nil
}
