package interceptors

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
)

// Calls that may take long whatever the daemon does have longer limits: those that have a summary written, and copies of logs.
func TestLimitsOfCalls(t *testing.T) {
	for _, test := range []struct {
		req  any
		want time.Duration
	}{
		{&compactordv1.AppendMessagesRequest{}, 2 * time.Minute},
		{&compactordv1.RevertToCheckpointRequest{}, 2 * time.Minute},
		{&compactordv1.RevertToCheckpointRequest{Summarize: true}, 6*time.Hour + 2*time.Minute},
		{&compactordv1.ForkSessionRequest{}, time.Hour},
	} {
		require.Equal(t, test.want, unaryTime(test.req), "%T", test.req)
	}
}

// The daemon's time limit for unary calls is not reported as the client's deadline.
func TestLimitOfTheDaemonIsNotTheClients(t *testing.T) {
	for whose, test := range map[string]struct{ client, daemon time.Duration }{
		"daemon": {time.Hour, -1},
		"call":   {-1, time.Hour},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), test.client)
		limited := capDeadline(func(any) time.Duration { return test.daemon })
		_, err := limited(ctx, nil, nil, func(ctx context.Context, _ any) (any, error) {
			<-ctx.Done()
			return nil, apierror.EndCause(ctx)
		})
		cancel()
		e := apierror.From(err, "")
		require.Equal(t, codes.DeadlineExceeded, e.Code())
		require.Equal(t, map[string]string{"deadline": whose}, e.Metadata)
	}
}
