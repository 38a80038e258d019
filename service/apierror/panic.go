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

// PanicError is a panic that was caught: a bug.
type PanicError struct {
	who, what string
	// ID is that of the operation or call, under which the log has it; empty where no client hears of it.
	ID string
}

// Error says who panicked.
func (e *PanicError) Error() string { return e.who + " panicked with a " + e.what }

// Recovered makes an error of a panic and logs where it was. Its value may hold what a client sent: only its type is told.
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
	logger.With(OfStrategy(e.Cause)...).ErrorContext(ctx, "call failed by a bug or a broken store", "id", id, "method", method,
		"error", cmp.Or(e.Cause, error(e)))
}

// OfStrategy tells a log of the panic of a strategy, if that is the cause. Its value may hold what a client sent: only its
// type is told.
func OfStrategy(cause error) []any {
	var panicked *strategies.PanicError
	if !errors.As(cause, &panicked) {
		return nil
	}
	return []any{"panic", fmt.Sprintf("%T", panicked.Value), "stack", string(panicked.Stack)}
}
