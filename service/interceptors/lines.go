package interceptors

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"path"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
)

// lines writes a line to the log at the end of each call. Payloads are conversations: it has nothing of them.
type lines struct{ logger *slog.Logger }

func (l lines) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	began := time.Now()
	answer, err := handler(ctx, req)
	l.write(ctx, info.FullMethod, "unary", began, err)
	return answer, err
}

func (l lines) stream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	began := time.Now()
	err := handler(srv, stream)
	l.write(stream.Context(), info.FullMethod, "server_stream", began, err)
	return err
}

func (l lines) write(ctx context.Context, method, kind string, began time.Time, err error) {
	took := time.Since(began)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	code := status.Code(err)
	if !l.logger.Enabled(ctx, callLevel(code)) {
		return
	}
	service, name := path.Split(strings.TrimPrefix(method, "/"))
	var room [12]slog.Attr
	attributes := append(room[:0],
		text("protocol", "grpc"), text("grpc.component", "server"),
		text("grpc.service", strings.TrimSuffix(service, "/")), text("grpc.method", name),
		text("grpc.method_type", kind),
	)
	if p, known := peer.FromContext(ctx); known {
		attributes = append(attributes, text("peer.address", p.Addr.String()))
	}
	attributes = append(attributes, text("grpc.start_time", began.Format(time.RFC3339)))
	if deadline, has := ctx.Deadline(); has {
		attributes = append(attributes, text("grpc.request.deadline", deadline.Format(time.RFC3339)))
	}
	attributes = append(attributes, text("grpc.code", code.String()))
	if err != nil {
		attributes = append(attributes, text("grpc.error", err.Error()))
	}
	attributes = append(attributes, text("grpc.time_ms", milliseconds(took)), text("event", "finished call"))
	l.logger.LogAttrs(ctx, callLevel(code), "call", attributes...)
}

// text is slog.String with one of the names, with points, that these lines have always had.
func text(key, value string) slog.Attr { return slog.Attr{Key: key, Value: slog.StringValue(value)} }

// milliseconds writes a time as milliseconds, exactly to the microsecond where it is short.
func milliseconds(d time.Duration) string {
	return strconv.FormatFloat(float64(d.Microseconds())/1000, 'f', -1, 32)
}

// callLevel returns the log level of a call's end. An error that only the client can fix is no error of the daemon.
func callLevel(code codes.Code) slog.Level {
	switch code {
	case codes.Internal, codes.DataLoss, codes.Unknown:
		return slog.LevelError
	case codes.Unavailable, codes.ResourceExhausted, codes.DeadlineExceeded:
		return slog.LevelWarn
	default:
		return slog.LevelInfo
	}
}
