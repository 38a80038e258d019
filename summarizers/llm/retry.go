package llm

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"time"

	"github.com/compactord/compactord/summarizers"
)

const (
	firstWait = 500 * time.Millisecond
	maxWait   = 30 * time.Second
)

// errTryLimit ends one request and not the summary.
var errTryLimit = errors.New("the time limit of one request passed")

// send has a request answered, and sends it again where it failed for a reason that passes.
func (w *writer) send(ctx context.Context, c *Completion) (*Answer, error) {
	interval := firstWait
	for try := 1; ; try++ {
		if try > 1 {
			w.spent.retries++
		}
		answer, err := w.once(ctx, c)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err == nil {
			return answer, nil
		}
		failure := asProviderError(err)
		wait := max(min(scattered(interval), maxWait), failure.RetryAfter)
		interval = min(2*interval, maxWait)
		if !failure.Retryable || failure.Overflow || try >= w.by.profile.Tries || endsWithin(ctx, wait) {
			return nil, failure
		}
		select {
		case <-w.by.after(wait):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// scattered is a wait of half to three halves of an interval, so that clients that failed together do not come back together.
func scattered(interval time.Duration) time.Duration {
	var random [8]byte
	rand.Read(random[:])
	return interval/2 + time.Duration(binary.NativeEndian.Uint64(random[:])%uint64(interval))
}

// endsWithin says whether the context's deadline is nearer than that: who waits for nothing could not say when the
// provider wants to be asked again.
func endsWithin(ctx context.Context, wait time.Duration) bool {
	deadline, has := ctx.Deadline()
	return has && time.Until(deadline) <= wait
}

// once sends a request within the limit for one. What was shown of an earlier one is void.
func (w *writer) once(ctx context.Context, c *Completion) (*Answer, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	w.void()
	limited, cancel := ctx, context.CancelFunc(func() {})
	if w.tryLimit > 0 {
		limited, cancel = context.WithTimeoutCause(ctx, w.tryLimit, errTryLimit)
	}
	defer cancel()
	spoken := summarizers.NewSpoken(w.show)
	answer, err := w.by.provider.Complete(limited, c, spoken.Add)
	w.spent.add(answer)
	switch {
	case err == nil && answer == nil:
		return &Answer{}, nil
	case err == nil:
		spoken.End()
		return answer, nil
	}
	var failure *summarizers.ProviderError
	if limited.Err() != nil && !errors.As(err, &failure) {
		return nil, &summarizers.ProviderError{Code: "timeout", Retryable: true, Err: &summarizers.TimeLimitError{Limit: w.tryLimit}}
	}
	return nil, err
}

// asProviderError makes a failure of any kind one that says whether to try again.
func asProviderError(err error) *summarizers.ProviderError {
	var failure *summarizers.ProviderError
	if errors.As(err, &failure) {
		return failure
	}
	return &summarizers.ProviderError{Err: err}
}
