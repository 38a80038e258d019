// Package tracing begins and ends the spans of a call. It never puts content of conversations into them: spans have names
// of ours, ids, numbers, and names of models.
//
// Only a call that is traced has a span in its context. Below it, each step begins a span of its own; in a context without
// one, or with one that is not sampled, Begin costs a look-up and does nothing.
package tracing

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Scope is the name of the instrumentation.
const Scope = "github.com/compactord/compactord"

// Span is a step of a call. The zero Span records nothing.
type Span struct{ span trace.Span }

// Begin begins a span for a step of the work that the context belongs to. The caller must call End or EndWith.
func Begin(ctx context.Context, name string, attributes ...attribute.KeyValue) (context.Context, Span) {
	return begin(ctx, trace.SpanKindInternal, name, attributes)
}

// BeginRequest begins a span for a request to another server.
func BeginRequest(ctx context.Context, name string, attributes ...attribute.KeyValue) (context.Context, Span) {
	return begin(ctx, trace.SpanKindClient, name, attributes)
}

func begin(ctx context.Context, kind trace.SpanKind, name string, attributes []attribute.KeyValue) (context.Context, Span) {
	parent := trace.SpanFromContext(ctx)
	// Not IsRecording: the work of a detached compaction goes on after the span of its call has ended.
	if !parent.SpanContext().IsSampled() {
		return ctx, Span{}
	}
	ctx, span := parent.TracerProvider().Tracer(Scope).Start(ctx, name, trace.WithSpanKind(kind), trace.WithAttributes(attributes...))
	return ctx, Span{span}
}

// Set adds attributes.
func (s Span) Set(attributes ...attribute.KeyValue) {
	if s.span != nil {
		s.span.SetAttributes(attributes...)
	}
}

// Recording says whether what is set has an effect, so that nothing is computed in vain.
func (s Span) Recording() bool { return s.span != nil }

// End ends the span of a step that went well.
func (s Span) End() {
	if s.span != nil {
		s.span.End()
	}
}

// EndWith ends the span of a step that may have failed. Of an error, the span has only what kind it is: its text may
// quote a conversation.
func (s Span) EndWith(err error) {
	if s.span == nil {
		return
	}
	if err != nil {
		s.span.SetAttributes(ErrorType(kindOf(err)))
		s.span.SetStatus(codes.Error, "")
	}
	s.span.End()
}

// ErrorType is what kind of error it was, as the semantic conventions have it.
func ErrorType(kind string) attribute.KeyValue { return attribute.String("error.type", kind) }

// Kinded is an error that says in a word of ours what kind it is.
type Kinded interface {
	error
	// Kind never quotes anything.
	Kind() string
}

// other is the kind of errors without one, as the semantic conventions have it.
const other = "_OTHER"

func kindOf(err error) string {
	var kinded Kinded
	switch {
	case errors.As(err, &kinded):
		return kinded.Kind()
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.Is(err, context.Canceled):
		return "cancelled"
	default:
		return other
	}
}
