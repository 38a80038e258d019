package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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
func serveMetrics(
	ctx context.Context, listener net.Listener, registry *prometheus.Registry, logger *slog.Logger,
) error {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true}))
	server := &http.Server{
		Handler:           mux,
		ReadHeaderTimeout: metricsTimeout,
		ReadTimeout:       metricsTimeout,
		WriteTimeout:      metricsTimeout,
		IdleTimeout:       metricsTimeout,
		MaxHeaderBytes:    metricsHeader,
		// The server's own log would go to stderr, which may be blocked.
		ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
	}
	// A scrape may be cut off: the next one has the same data.
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve metrics: %w", err)
	}
	return nil
}

// droppedLines is the metric of lines that the log had no room for.
func droppedLines(q *logQueue) prometheus.Collector {
	return prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "compactord_log_lines_dropped_total",
		Help: "Lines of the log that were dropped because nobody read stderr in time.",
	}, func() float64 { return float64(q.Dropped()) })
}
