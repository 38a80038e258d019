package calls

import (
	"context"
	"log/slog"
)

// Handler returns a handler that adds to each line what is known of its call. What a line already has is not repeated.
func Handler(next slog.Handler) slog.Handler { return handler{next} }

type handler struct{ slog.Handler }

// Handle adds to a line.
func (h handler) Handle(ctx context.Context, line slog.Record) error {
	c := Of(ctx)
	if c == nil {
		return h.Handler.Handle(ctx, line)
	}
	line = line.Clone()
	add := func(name, value string) {
		if value != "" && !has(line, name) {
			line.AddAttrs(slog.String(name, value))
		}
	}
	add("request_id", c.RequestID)
	add("trace_id", c.TraceID)
	by := c.Caller()
	add("tenant", by.Tenant)
	add("subject", by.Subject)
	add("session_id", c.Session())
	return h.Handler.Handle(ctx, line)
}

func has(line slog.Record, name string) (found bool) {
	line.Attrs(func(a slog.Attr) bool {
		found = a.Key == name
		return !found
	})
	return found
}

// WithAttrs returns a handler with attributes.
func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.Handler.WithAttrs(attrs)}
}

// WithGroup returns a handler with a group.
func (h handler) WithGroup(name string) slog.Handler { return handler{h.Handler.WithGroup(name)} }
