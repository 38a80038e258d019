package serve

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/compactord/compactord/cmd/compactord/internal/admin"
	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

// adminListener is the listener of what operators ask over HTTP, and its server.
type adminListener struct {
	net.Listener
	server *admin.Server
}

// listenAdmin listens for operators; nil where no address is set.
func (c *Command) listenAdmin(ctx context.Context, d *daemon, registry *prometheus.Registry, logger *slog.Logger) (*adminListener, error) {
	flag, where := c.AdminAddress()
	if where == "" {
		return nil, nil
	}
	addr, err := api.ParseAddress(where)
	if err != nil {
		return nil, err
	}
	options := admin.Options{
		Metrics: registry, Readiness: d.server.Readiness, Profiles: c.Pprof, Build: terminal.ThisBuild(), Logger: logger,
	}
	listener, err := bindAdmin(ctx, flag, addr)
	if err != nil {
		return nil, err
	}
	logger.InfoContext(ctx, "serving metrics", "address", listening(addr, listener), "pprof", c.Pprof)
	listener = newPatientListener(listener, logger, d.refused)
	if !addr.Local() && d.encryption != nil {
		// Other machines can connect, and what they send is encrypted.
		options.Guard = d.guard
		listener = tls.NewListener(listener, d.encryption.HTTP("http/1.1"))
	}
	return &adminListener{listener, admin.New(options)}, nil
}

func bindAdmin(ctx context.Context, flag string, addr api.Address) (net.Listener, error) {
	if addr.Network == "unix" {
		return listen(ctx, addr)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, addr.Network, addr.Where)
	if err != nil {
		return nil, fmt.Errorf("cannot serve metrics on %s, the address of --%s: %w", addr.Where, flag, cause(err))
	}
	return listener, nil
}

// serve serves until the context ends.
func (l *adminListener) serve(ctx context.Context) error { return l.server.Serve(ctx, l.Listener) }

// droppedLines is the metric of lines that the log had no room for.
func droppedLines(q *logQueue) prometheus.Collector {
	return prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "compactord_log_lines_dropped_total",
		Help: "Lines of the log that were dropped because nobody read stderr in time.",
	}, func() float64 { return float64(q.Dropped()) })
}

// buildInfo is the metric that says which build runs.
func buildInfo(b terminal.Build) prometheus.Collector {
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name:        "compactord_build_info",
		Help:        "1, with the version and the revision of the program, and the version of Go that built it.",
		ConstLabels: prometheus.Labels{"version": b.Version, "revision": b.Revision, "go_version": b.Go},
	})
	info.Set(1)
	return info
}
