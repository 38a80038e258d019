package traces

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

// collector is an exporter that a test holds up, or has fail.
type collector struct {
	mu     sync.Mutex
	failed error
	got    []sdktrace.ReadOnlySpan
	// asked receives for each batch; nil for a collector that never answers.
	asked  chan struct{}
	answer chan struct{}
}

func (c *collector) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if c.asked != nil {
		c.asked <- struct{}{}
	}
	if c.answer != nil {
		select {
		case <-c.answer:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed == nil {
		c.got = append(c.got, spans...)
	}
	return c.failed
}

func (c *collector) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed = err
}

func (*collector) Shutdown(context.Context) error { return nil }

// sending returns a provider that sends to a collector, its log, and its metric by outcome.
func sending(t *testing.T, c *collector) (*Provider, *strings.Builder, func(outcome string) float64) {
	t.Helper()
	var log strings.Builder
	registry := prometheus.NewRegistry()
	p, err := newProvider(t.Context(), Options{
		Sample: 1, Service: "agents", Build: terminal.Build{Version: "v1.2.3", Revision: "abc"},
		Logger: slog.New(slog.NewTextHandler(&log, nil)), Metrics: registry,
	}, c)
	require.NoError(t, err)
	return p, &log, func(outcome string) float64 {
		families, err := registry.Gather()
		require.NoError(t, err)
		for _, m := range families[0].GetMetric() {
			if m.GetLabel()[0].GetValue() == outcome {
				return value(m)
			}
		}
		require.Fail(t, "no series", outcome)
		return 0
	}
}

func value(m *dto.Metric) float64 { return m.GetCounter().GetValue() }

func (p *Provider) record(spans int) {
	for range spans {
		_, span := p.Tracer("test").Start(context.Background(), "x")
		span.End()
	}
}

// A collector that does not answer costs spans, and no time.
func TestSpansAreDroppedWhereTheQueueIsFull(t *testing.T) {
	c := &collector{asked: make(chan struct{}, 100), answer: make(chan struct{})}
	p, _, outcome := sending(t, c)
	p.record(batchSize)
	<-c.asked
	p.record(queueSize)
	require.InDelta(t, batchSize, outcome(queueFull), 0, "those that are being sent count, too")
	close(c.answer)
	require.NoError(t, p.Shutdown(t.Context()))
	require.InDelta(t, queueSize, outcome(sent), 0)
	require.Zero(t, outcome(sendFailed))
	require.Len(t, c.got, queueSize)
}

// A stop does not wait for a collector that does not answer.
func TestShutdownEndsWithItsContext(t *testing.T) {
	c := &collector{asked: make(chan struct{}, 100), answer: make(chan struct{})}
	p, _, outcome := sending(t, c)
	p.record(3 * batchSize)
	<-c.asked
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, p.Shutdown(ctx), context.Canceled)
	require.Zero(t, outcome(sent))
}

func TestFailuresAreCountedAndLoggedOnce(t *testing.T) {
	c := &collector{failed: errors.New("full")}
	p, log, outcome := sending(t, c)
	for range 2 {
		p.record(3)
		require.NoError(t, p.ForceFlush(t.Context()))
	}
	require.InDelta(t, 6, outcome(sendFailed), 0)
	c.fail(nil)
	p.record(1)
	require.NoError(t, p.Shutdown(t.Context()))
	require.InDelta(t, 1, outcome(sent), 0)
	require.Equal(t, 1, strings.Count(log.String(), "traces are not sent: the collector does not take them"))
	require.Equal(t, 1, strings.Count(log.String(), "traces are sent again"))
	attributes := c.got[0].Resource().Attributes()
	said := make(map[string]string)
	for _, a := range attributes {
		said[string(a.Key)] = a.Value.AsString()
	}
	require.Equal(t, map[string]string{"service.name": "agents", "service.version": "v1.2.3", "vcs.ref.head.revision": "abc"}, said)
}

// No span is sent of a trace that the sampler leaves out.
func TestSampling(t *testing.T) {
	c := &collector{}
	p, err := newProvider(t.Context(), Options{Service: "x", Logger: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry()}, c)
	require.NoError(t, err)
	p.record(10)
	require.NoError(t, p.Shutdown(t.Context()))
	require.Empty(t, c.got)
}

func TestExportersOfBothProtocols(t *testing.T) {
	for _, protocol := range []string{GRPC, HTTP} {
		for _, scheme := range []string{"http", "https"} {
			p, err := New(t.Context(), Options{
				Endpoint: &url.URL{Scheme: scheme, Host: "127.0.0.1:1"}, Protocol: protocol, Service: "x",
				Logger: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
			})
			require.NoError(t, err)
			require.NoError(t, p.Shutdown(t.Context()))
		}
	}
}
