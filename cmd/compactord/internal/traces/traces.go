// Package traces sends the spans of calls to a collector of OpenTelemetry (OTLP).
//
// It never holds a call up: a span waits in a queue, and where that is full, it is dropped and counted.
package traces

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

// The protocols of OTLP, by their names in the configuration.
const (
	GRPC = "grpc"
	HTTP = "http/protobuf"
)

// queueSize is how many spans wait to be sent at most, and batchSize how many are sent together.
const (
	queueSize = 4096
	batchSize = 512
	// sendTimeout is how long a batch may take with its repetitions.
	sendTimeout = 10 * time.Second
)

// Options say where spans are sent, and which.
type Options struct {
	// Endpoint is the collector's address, with a port: https for TLS, http for plaintext. Over HTTP its path is /v1/traces by default.
	Endpoint *url.URL
	// Protocol is GRPC or HTTP.
	Protocol string
	// Authorities are those that sign the collector's certificate. Nil: the system's.
	Authorities *x509.CertPool
	// Headers are sent with every batch. They are secrets.
	Headers map[string]string
	// Sample is which part of the traces is recorded that begin here, from 0 to 1. The others follow their client.
	Sample float64
	// Service is the name of the daemon in traces.
	Service string
	Build   terminal.Build
	Logger  *slog.Logger
	Metrics prometheus.Registerer
}

// Provider makes spans and sends them.
type Provider struct {
	*sdktrace.TracerProvider

	end context.CancelFunc
}

// New returns a provider, which begins to send. The caller must call Shutdown.
func New(ctx context.Context, o Options) (*Provider, error) {
	exporter, err := o.exporter(ctx)
	if err != nil {
		return nil, fmt.Errorf("cannot send traces: %w", err)
	}
	return newProvider(ctx, o, exporter)
}

func newProvider(ctx context.Context, o Options, exporter sdktrace.SpanExporter) (*Provider, error) {
	counted, err := newCounts(o.Logger, o.Metrics)
	if err != nil {
		return nil, err
	}
	described, err := o.resource(ctx)
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES cannot be read: %w", err)
	}
	sending, end := context.WithCancel(context.WithoutCancel(ctx))
	atEnd := func(do func()) func() bool { return context.AfterFunc(sending, do) }
	queue := sdktrace.NewBatchSpanProcessor(sender{exporter, counted, atEnd}, sdktrace.WithMaxQueueSize(queueSize),
		sdktrace.WithMaxExportBatchSize(batchSize), sdktrace.WithExportTimeout(sendTimeout))
	limits := sdktrace.NewSpanLimits()
	limits.AttributeValueLengthLimit = maxValue
	return &Provider{sdktrace.NewTracerProvider(
		sdktrace.WithSpanProcessor(door{queue, counted}), sdktrace.WithRawSpanLimits(limits), sdktrace.WithResource(described),
		sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.TraceIDRatioBased(o.Sample))),
	), end}, nil
}

// Shutdown sends what waits until the context ends, and drops the rest. Nothing is recorded afterwards.
func (p *Provider) Shutdown(ctx context.Context) error {
	// What is being sent ends with the context, and without waiting for the collector.
	defer p.end()
	defer context.AfterFunc(ctx, p.end)()
	// Not ctx itself: where that has ended, the queue would be left as it is.
	err := p.TracerProvider.Shutdown(context.WithoutCancel(ctx))
	return errors.Join(err, ctx.Err())
}

// maxValue is longer than any id or name of ours.
const maxValue = 512

// resource says which build of the daemon runs, beside what OTEL_RESOURCE_ATTRIBUTES says of where it runs.
func (o *Options) resource(ctx context.Context) (*resource.Resource, error) {
	attributes := []attribute.KeyValue{semconv.ServiceName(o.Service), semconv.ServiceVersion(o.Build.Version)}
	if o.Build.Revision != "" {
		attributes = append(attributes, semconv.VCSRefHeadRevision(o.Build.Revision))
	}
	return resource.New(ctx, resource.WithSchemaURL(semconv.SchemaURL), resource.WithFromEnv(), resource.WithAttributes(attributes...))
}

// exporter returns what sends spans.
func (o *Options) exporter(ctx context.Context) (sdktrace.SpanExporter, error) {
	encrypted := &tls.Config{RootCAs: o.Authorities, MinVersion: tls.VersionTLS12}
	if o.Endpoint.Scheme == "http" {
		encrypted = nil
	}
	if o.Protocol != GRPC {
		return otlptrace.New(ctx, newHTTPClient(o.Endpoint, encrypted, o.Headers))
	}
	client, err := newGRPCClient(o.Endpoint, encrypted, o.Headers)
	if err != nil {
		return nil, err
	}
	return otlptrace.New(ctx, client)
}
