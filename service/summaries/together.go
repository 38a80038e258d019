package summaries

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/compactord/compactord/service/apierror"
)

// together does n things, as many at a time as the summarizer writes, and returns once all have ended. The first that fails
// cancels the others, and its error is returned; a panic is one, which the log has under the operation's id. Where one is
// done at a time, they are done in order.
func (w *Writer) together(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	work := func() {
		for ctx.Err() == nil {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			if err := w.guarded(ctx, i, do); err != nil {
				cancel(err)
			}
		}
	}
	// The caller works too: where one thing is done at a time there is no goroutine.
	var others sync.WaitGroup
	for range min(w.atATime(), n) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
	return context.Cause(ctx)
}

// guarded makes an error of a panic, which would end the daemon in a goroutine that nobody guards.
func (w *Writer) guarded(ctx context.Context, i int, do func(ctx context.Context, i int) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = apierror.Recovered(ctx, w.config.Logger, "compaction", w.op.ID, r)
		}
	}()
	return do(ctx, i)
}
