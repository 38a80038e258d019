package operations

import (
	"context"
	"errors"
	"log/slog"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
)

// EndError returns the RPC's error for an operation that failed. Where the operation's context has ended, the reason
// for that is the error, since it caused the failure. EndError also logs bugs and damage of the store, since the call
// may have ended.
func EndError(ctx context.Context, logger *slog.Logger, id, what string, err error) *apierror.Error {
	cause := apierror.EndCause(ctx)
	if cause != nil && !errors.Is(cause, context.DeadlineExceeded) {
		e := apierror.New(compactordv1.ErrorReason_ERROR_REASON_CANCELLED,
			map[string]string{"operation_id": id}, "the %s was cancelled: %s", what, cancelledBy(cause))
		e.Cause = err
		return e
	}
	if cause != nil {
		err = cause
	}
	e := apierror.From(err, id)
	if cause != nil {
		e.Metadata["operation_id"] = id
	}
	apierror.LogBug(ctx, logger, id, what, e)
	return e
}

func cancelledBy(cause error) string {
	for _, known := range []error{apierror.ErrPreempted, apierror.ErrCancelled, apierror.ErrDeleted, apierror.ErrShuttingDown, apierror.ErrTakenForDead} {
		if errors.Is(cause, known) {
			return known.Error()
		}
	}
	return "the client ended the call"
}
