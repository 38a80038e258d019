package apierror

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	"google.golang.org/grpc/codes"

	"github.com/compactord/compactord/strategies"
)

// PanicError is a recovered panic, and so a bug.
type PanicError struct {
	who, what string
	// ID is the id of the operation or call in the log; empty where no client is involved.
	ID string
}

// Error says what panicked.
func (e *PanicError) Error() string { return e.who + " panicked with a " + e.what }

// Recovered turns a panic into an error and logs its stack. Of the panic's value it logs only the type, since it may
// contain what a client sent.
func Recovered(ctx context.Context, logger *slog.Logger, who, id string, cause any) error {
	e := &PanicError{who: who, what: fmt.Sprintf("%T", cause), ID: id}
	fields := []any{"who", who, "panic", e.what, "stack", string(debug.Stack())}
	if id != "" {
		fields = append([]any{"id", id}, fields...)
	}
	logger.ErrorContext(ctx, "panicked", fields...)
	return e
}

// LogBug logs the cause of an error that no client can fix, once, under the id that the client gets.
func LogBug(ctx context.Context, logger *slog.Logger, id, method string, e *Error) {
	if e.logged || e.Code() != codes.Internal && e.Code() != codes.DataLoss {
		return
	}
	e.logged = true
	logger.With(StrategyPanicFields(e.Cause)...).ErrorContext(ctx, "call failed by a bug or a broken store", "id", id, "method", method,
		"error", cmp.Or(e.Cause, error(e)))
}

// StrategyPanicFields returns log fields for the panic of a strategy, if that is the cause. Of its value they have only
// the type, since it may contain what a client sent.
func StrategyPanicFields(cause error) []any {
	var panicked *strategies.PanicError
	if !errors.As(cause, &panicked) {
		return nil
	}
	return []any{"panic", fmt.Sprintf("%T", panicked.Value), "stack", string(panicked.Stack)}
}
