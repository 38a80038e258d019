package interceptors

import (
	"context"
	"time"

	"google.golang.org/grpc"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
)

// maxUnaryTime is the time limit of a unary call. Compact streams have the time limits of the policy's summaries.
const maxUnaryTime = 2 * time.Minute

// maxSummarizingTime is the time limit of a unary call that has a summary written: the longest time that a policy can
// allow for that, plus that of any call.
const maxSummarizingTime = 6*time.Hour + maxUnaryTime

// maxForkTime is the time limit of a fork: it copies the log, piece by piece, while others are served first.
const maxForkTime = time.Hour

// unaryTime returns the time limit of a unary call.
func unaryTime(req any) time.Duration {
	switch r := req.(type) {
	case *compactordv1.RevertToCheckpointRequest:
		if r.GetSummarize() {
			return maxSummarizingTime
		}
	case *compactordv1.ForkSessionRequest:
		return maxForkTime
	}
	return maxUnaryTime
}

func capDeadline(most func(req any) time.Duration) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		limit := most(req)
		ctx, cancel := context.WithTimeoutCause(ctx, limit, apierror.DaemonLimit(limit))
		defer cancel()
		return handler(ctx, req)
	}
}
