package traces

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// The outcomes of spans in the metric.
const (
	sent = "sent"
	// queueFull is the outcome of spans that found no room, and sendFailed that of those that the collector did not take.
	queueFull  = "queue_full"
	sendFailed = "send_failed"
)

// counts counts how spans end.
type counts struct {
	logger *slog.Logger
	spans  *prometheus.CounterVec
	// waiting is how many spans are queued or being sent.
	waiting atomic.Int64
	// failing says that the last batch was not sent, and that the log has said so.
	failing atomic.Bool
}

func newCounts(logger *slog.Logger, metrics prometheus.Registerer) (*counts, error) {
	c := &counts{logger: logger, spans: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "compactord_trace_spans_total",
		Help: "Spans of traces, by outcome: sent, or dropped because the queue was full or the collector did not take them.",
	}, []string{"outcome"})}
	for _, outcome := range []string{sent, queueFull, sendFailed} {
		c.spans.WithLabelValues(outcome)
	}
	if err := metrics.Register(c.spans); err != nil {
		return nil, fmt.Errorf("register metrics: %w", err)
	}
	return c, nil
}

// door stands before the queue, and lets in no more than there is room for, so that the queue drops nothing in silence.
type door struct {
	sdktrace.SpanProcessor
	*counts
}

// OnEnd queues a span, or drops it. It never waits.
func (d door) OnEnd(span sdktrace.ReadOnlySpan) {
	if !span.SpanContext().IsSampled() {
		return
	}
	if d.waiting.Add(1) > queueSize {
		d.waiting.Add(-1)
		d.spans.WithLabelValues(queueFull).Inc()
		return
	}
	d.SpanProcessor.OnEnd(span)
}

// sender stands behind the queue.
type sender struct {
	sdktrace.SpanExporter
	*counts

	// atEnd calls what it is given when nothing may be sent any more, unless stop is called before.
	atEnd func(func()) (stop func() bool)
}

// ExportSpans sends a batch. The queue need not know of failures: they are counted here, and the first is logged.
func (s sender) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	defer s.waiting.Add(-int64(len(spans)))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer s.atEnd(cancel)()
	if err := s.SpanExporter.ExportSpans(ctx, spans); err != nil {
		s.spans.WithLabelValues(sendFailed).Add(float64(len(spans)))
		if !s.failing.Swap(true) {
			s.logger.WarnContext(ctx, "traces are not sent: the collector does not take them", "error", err)
		}
		return nil
	}
	s.spans.WithLabelValues(sent).Add(float64(len(spans)))
	if s.failing.Swap(false) {
		s.logger.InfoContext(ctx, "traces are sent again")
	}
	return nil
}
