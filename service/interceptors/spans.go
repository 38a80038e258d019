package interceptors

import (
	"context"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	otelcodes "go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/compactord/compactord/service/calls"
	"github.com/compactord/compactord/tracing"
)

// tracedBy returns what begins calls; nil for no traces.
func tracedBy(traces trace.TracerProvider) beginning {
	if traces == nil {
		return beginning{}
	}
	return beginning{traces.Tracer(tracing.Scope)}
}

// span begins the span of a call, below that of the client's traceparent where there is one. Health checks and reflection
// have none.
func (b beginning) span(ctx context.Context, method string) (context.Context, trace.Span) {
	if b.tracer == nil || !strings.HasPrefix(method, "/compactord.") {
		return ctx, nil
	}
	method = strings.TrimPrefix(method, "/")
	ctx = propagation.TraceContext{}.Extract(ctx, parentOf(ctx))
	return b.tracer.Start(ctx, method, trace.WithSpanKind(trace.SpanKindServer),
		trace.WithAttributes(semconv.RPCSystemNameGRPC, semconv.RPCMethod(method)))
}

// parentOnly has the traceparent of a call and no more: a tracestate is free text of the client.
type parentOnly string

const parentHeader = "traceparent"

func parentOf(ctx context.Context) parentOnly {
	if values := metadata.ValueFromIncomingContext(ctx, parentHeader); len(values) == 1 {
		return parentOnly(values[0])
	}
	return ""
}

// Get is part of propagation.TextMapCarrier.
func (p parentOnly) Get(key string) string {
	if key == parentHeader {
		return string(p)
	}
	return ""
}

// Set is part of propagation.TextMapCarrier. Nothing is injected.
func (parentOnly) Set(string, string) {}

// Keys is part of propagation.TextMapCarrier.
func (parentOnly) Keys() []string { return []string{parentHeader} }

// endSpan ends the span of a call with what is known of it by then. The texts of errors, which may quote a request, stay
// out.
func endSpan(span trace.Span, call *calls.Call, err error) {
	if span == nil {
		return
	}
	defer span.End()
	if !span.IsRecording() {
		return
	}
	failed := status.Code(err)
	name := code.Code(failed).String()
	span.SetAttributes(semconv.RPCResponseStatusCode(name), attribute.String("compactord.request_id", call.RequestID))
	for key, value := range map[string]string{
		"compactord.tenant": call.Caller().Tenant, "compactord.session_id": call.Session(),
	} {
		if value != "" {
			span.SetAttributes(attribute.String(key, value))
		}
	}
	if failsServer[failed] {
		span.SetAttributes(tracing.ErrorType(name))
		span.SetStatus(otelcodes.Error, "")
	}
}

// failsServer are the codes that are errors of a server, by the semantic conventions of RPC. Others are the client's.
var failsServer = map[codes.Code]bool{
	codes.Unknown: true, codes.DeadlineExceeded: true, codes.Unimplemented: true, codes.Internal: true,
	codes.Unavailable: true, codes.DataLoss: true,
}
