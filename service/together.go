package service

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/compactord/compactord/service/apierror"
)

// together does n things, at most so many at a time, and returns once all have ended. The first that fails cancels the
// others, and its error is returned; a panic is one, which the log has under the operation's id. Where one is done at a time,
// they are done in order.
func (s *Service) together(
	ctx context.Context, operation string, atATime, n int, do func(ctx context.Context, i int) error,
) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	work := func() {
		for ctx.Err() == nil {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			if err := s.guardedCall(ctx, operation, i, do); err != nil {
				cancel(err)
			}
		}
	}
	// The caller works too: where one thing is done at a time there is no goroutine.
	var others sync.WaitGroup
	for range min(atATime, n) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
	return context.Cause(ctx)
}

// guardedCall makes an error of a panic, which would end the daemon in a goroutine that nobody guards.
func (s *Service) guardedCall(
	ctx context.Context, operation string, i int, do func(ctx context.Context, i int) error,
) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = apierror.Recovered(ctx, s.logger, "compaction", operation, r)
		}
	}()
	return do(ctx, i)
}
