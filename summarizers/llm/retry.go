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

// errTryLimit is the cause that ends one request, and not the whole summary.
var errTryLimit = errors.New("the time limit of one request passed")

// send sends a request, and sends it again after a transient failure.
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

// scattered returns a random wait between half and three halves of an interval, so that clients that failed together do
// not come back together.
func scattered(interval time.Duration) time.Duration {
	var random [8]byte
	rand.Read(random[:])
	return interval/2 + time.Duration(binary.NativeEndian.Uint64(random[:])%uint64(interval))
}

// endsWithin says whether the context ends before this wait is over. The caller then does not wait, and returns the
// failure, which says when the provider wants the next request.
func endsWithin(ctx context.Context, wait time.Duration) bool {
	deadline, has := ctx.Deadline()
	return has && time.Until(deadline) <= wait
}

// once sends a request within the time limit for one. It first discards text that an earlier request has shown.
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
	limited, span := w.by.request(limited, c)
	answer, err := w.by.provider.Complete(limited, c, spoken.Add)
	endRequest(span, answer, err)
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

// asProviderError returns err as a ProviderError. An error of any other kind becomes one that is not retryable.
func asProviderError(err error) *summarizers.ProviderError {
	var failure *summarizers.ProviderError
	if errors.As(err, &failure) {
		return failure
	}
	return &summarizers.ProviderError{Err: err}
}
