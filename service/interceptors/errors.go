package interceptors

import (
	"cmp"
	"context"
	"errors"
	"log/slog"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/sessionlog"
)

// errorMap turns the errors of calls into statuses.
type errorMap struct{ logger *slog.Logger }

func (m errorMap) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	resp, err := handler(ctx, req)
	return resp, m.mapError(ctx, info.FullMethod, err)
}

func (m errorMap) stream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	return m.mapError(stream.Context(), info.FullMethod, handler(srv, stream))
}

// mapError turns an error into the status that the client gets. It logs a bug with its cause, under the id in the
// status.
func (m errorMap) mapError(ctx context.Context, method string, err error) error {
	if err == nil {
		return nil
	}
	if endedAtDeadline(ctx, err) {
		err = apierror.ErrCallDeadline
	}
	if st, ok := status.FromError(err); ok && !isOurs(err) {
		return st.Err()
	}
	id := sessionlog.NewID()
	var panicked *apierror.PanicError
	if errors.As(err, &panicked) {
		id = cmp.Or(panicked.ID, id)
	}
	e := apierror.From(err, id)
	apierror.LogBug(ctx, m.logger, id, method, e)
	return e.GRPCStatus().Err()
}

// endedAtDeadline says that the call failed only because its deadline has passed.
func endedAtDeadline(ctx context.Context, err error) bool {
	var ours *apierror.Error
	if errors.As(err, &ours) || !errors.Is(apierror.EndCause(ctx), apierror.ErrCallDeadline) {
		return false
	}
	code := status.Code(err)
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
		code == codes.Canceled || code == codes.DeadlineExceeded
}

// isOurs says whether an error is the API's, and not gRPC's own. Both carry a status.
func isOurs(err error) bool {
	e := &apierror.Error{}
	return errors.As(err, &e) || apierror.From(err, "").Code() != codes.Internal
}
