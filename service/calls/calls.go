// Package calls knows of each call what the lines of the log have in common: its request id, trace id, caller and session.
package calls

import (
	"context"
	"strings"
	"sync/atomic"

	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc/metadata"
)

// RequestIDHeader is the metadata by which a client names its call. The answer has it then, too; an error has it always.
const RequestIDHeader = "x-request-id"

// traceHeader is the metadata of the trace that a call is a part of, as W3C Trace Context has it.
const traceHeader = "traceparent"

// maxRequestID is the length of the longest request id that is taken.
const maxRequestID = 128

// Call is what is known of a call. Other goroutines than the call's may read it.
type Call struct {
	// RequestID is the client's, if that can be used, else a new one. TraceID is that of the call's span, or else of the
	// client's traceparent; empty where there is no trace.
	RequestID, TraceID string

	caller  atomic.Pointer[Caller]
	session atomic.Pointer[string]
	effect  atomic.Pointer[Effect]
}

// Caller is who calls. Each may be empty.
type Caller struct {
	Tenant, Subject string
	// Role is what the caller may do.
	Role string
}

// Effect is what a call did beside what its request names.
type Effect struct {
	// Made is the session that it made, whose id the daemon can have chosen.
	Made string
	// Deleted is how many children it deleted with a session.
	Deleted uint32
}

type key struct{}

// Begin returns the context of a call that begins. newID makes a request id where the client has sent none.
func Begin(ctx context.Context, newID func() string) (context.Context, *Call) {
	c := &Call{RequestID: first(ctx, RequestIDHeader), TraceID: traceID(first(ctx, traceHeader))}
	if span := trace.SpanContextFromContext(ctx); span.HasTraceID() {
		c.TraceID = span.TraceID().String()
	}
	if !validRequestID(c.RequestID) {
		c.RequestID = newID()
	}
	return context.WithValue(ctx, key{}, c), c
}

// Of returns the call of a context; nil where there is none.
func Of(ctx context.Context) *Call {
	c, _ := ctx.Value(key{}).(*Call)
	return c
}

// SetCaller notes who calls. It does nothing without a call.
func SetCaller(ctx context.Context, by Caller) {
	if c := Of(ctx); c != nil {
		c.caller.Store(&by)
	}
}

// Caller returns who calls; the zero Caller where nobody is known.
func (c *Call) Caller() Caller {
	if by := c.caller.Load(); by != nil {
		return *by
	}
	return Caller{}
}

// Session returns the session of a call; empty where none is known.
func (c *Call) Session() string {
	if id := c.session.Load(); id != nil {
		return *id
	}
	return ""
}

// SetSession notes the session of a call. The id must be one that the contract allows.
func (c *Call) SetSession(id string) { c.session.Store(&id) }

// SetEffect notes what a call did. It does nothing without a call.
func SetEffect(ctx context.Context, done Effect) {
	if c := Of(ctx); c != nil {
		c.effect.Store(&done)
	}
}

// Effect returns what the call did; the zero Effect where nothing was noted.
func (c *Call) Effect() Effect {
	if done := c.effect.Load(); done != nil {
		return *done
	}
	return Effect{}
}

func first(ctx context.Context, name string) string {
	if values := metadata.ValueFromIncomingContext(ctx, name); len(values) == 1 {
		return values[0]
	}
	return ""
}

// validRequestID takes what cannot break a line of a log, or be a token of ours by mistake.
func validRequestID(id string) bool {
	if id == "" || len(id) > maxRequestID || strings.Contains(id, "cptd_") {
		return false
	}
	for i := range len(id) {
		switch c := id[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-_.:/+=", c) >= 0:
		default:
			return false
		}
	}
	return true
}

// The form of a traceparent: version, trace id, parent id and flags, in hexadecimal digits.
const (
	traceParentLength = 55
	traceStart        = 3
	traceEnd          = 35
)

// traceID returns the trace id of a traceparent; empty where it is not well-formed.
func traceID(parent string) string {
	if len(parent) < traceParentLength || parent[2] != '-' || parent[traceEnd] != '-' {
		return ""
	}
	id := parent[traceStart:traceEnd]
	if strings.Trim(id, "0123456789abcdef") != "" || strings.Trim(id, "0") == "" {
		return ""
	}
	return id
}
