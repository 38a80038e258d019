package serve

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/cmd/compactord/internal/traces"
)

// openTraces begins to send traces; nil where no collector is set. The caller must call endTraces.
func (c *Command) openTraces(ctx context.Context, metrics prometheus.Registerer, logger *slog.Logger) (*traces.Provider, error) {
	options, err := c.Traces()
	if options == nil || err != nil {
		return nil, err
	}
	options.Build, options.Logger, options.Metrics = terminal.ThisBuild(), logger, metrics
	provider, err := traces.New(ctx, *options)
	if err == nil {
		logger.InfoContext(ctx, "sending traces", "endpoint", c.TracesEndpoint, "protocol", c.TracesProtocol, "sample", c.TracesSample)
	}
	return provider, err
}

// leastFlush is how long the spans of the last calls may take to be sent, also where the calls needed all of the time in which
// a daemon drains.
const leastFlush = time.Second

// endTraces sends what is left, within the time in which the daemon drains.
func (d *daemon) endTraces(ctx context.Context) {
	if d.traces == nil {
		return
	}
	left := leastFlush
	if !d.stopping.IsZero() {
		left = max(left, d.server.DrainTimeout()-time.Since(d.stopping))
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), left)
	defer cancel()
	// What was not sent is counted and logged by the provider.
	_ = d.traces.Shutdown(ctx)
}
