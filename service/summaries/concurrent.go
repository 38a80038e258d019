package summaries

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/compactord/compactord/service/apierror"
)

// runConcurrently calls do for 0 to n-1, as many at a time as the summarizer allows, and returns after all have ended.
// The first error cancels the others and is returned. A panic counts as an error, and is logged under the operation's
// id. With one at a time they run in order.
func (w *Writer) runConcurrently(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
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
	// The caller's goroutine works too: with one at a time there is no other.
	var others sync.WaitGroup
	for range min(w.atATime(), n) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
	return context.Cause(ctx)
}

// guarded turns a panic into an error. Without it a panic in a goroutine would end the daemon.
func (w *Writer) guarded(ctx context.Context, i int, do func(ctx context.Context, i int) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = apierror.Recovered(ctx, w.config.Logger, "compaction", w.op.ID, r)
		}
	}()
	return do(ctx, i)
}
