package interceptors

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
)

// A line has what operators look for, in this order, and nothing below the level of the log is written.
func TestLinesOfCalls(t *testing.T) {
	t.Parallel()
	ctx := peer.NewContext(t.Context(), &peer.Peer{Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9}})
	ctx, cancel := context.WithDeadline(ctx, time.Date(2099, 1, 2, 3, 4, 5, 0, time.UTC))
	defer cancel()
	call := func(level slog.Level, err error) string {
		var written bytes.Buffer
		l := lines{slog.New(slog.NewTextHandler(&written, &slog.HandlerOptions{Level: level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}}))}
		_, got := l.unary(ctx, nil, &grpc.UnaryServerInfo{FullMethod: "/compactord.v1.SessionService/GetSession"},
			func(context.Context, any) (any, error) { return nil, err })
		require.Equal(t, err, got)
		line := regexp.MustCompile(`grpc.time_ms=[0-9.]+ `).ReplaceAllString(written.String(), "grpc.time_ms=N ")
		return regexp.MustCompile(`grpc.start_time=[0-9]{4}-[0-9T:Z+-]+ `).ReplaceAllString(line, "grpc.start_time=T ")
	}
	const begins = "msg=call protocol=grpc grpc.component=server grpc.service=compactord.v1.SessionService grpc.method=GetSession " +
		"grpc.method_type=unary peer.address=127.0.0.1:9 grpc.start_time=T grpc.request.deadline=2099-01-02T03:04:05Z "
	require.Equal(t, "level=INFO "+begins+`grpc.code=OK grpc.time_ms=N event="finished call"`+"\n", call(slog.LevelInfo, nil))
	require.Equal(t, "level=WARN "+begins+`grpc.code=Unavailable grpc.error="rpc error: code = Unavailable desc = away" grpc.time_ms=N event="finished call"`+"\n",
		call(slog.LevelInfo, status.Error(codes.Unavailable, "away")))
	require.Empty(t, call(slog.LevelWarn, nil))
}

// Times are milliseconds with up to three digits behind the point.
func TestMilliseconds(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]time.Duration{
		"0": 999, "0.001": time.Microsecond, "1.5": 1500 * time.Microsecond, "60000": time.Minute, "12.345": 12_345_678,
	} {
		require.Equal(t, want, milliseconds(d))
	}
}
