package wire

import (
	"context"
	"errors"

	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/llm"
)

var (
	errIdle  = errors.New("the answer fell silent")
	errDone  = errors.New("the exchange has ended")
	errPanic = errors.New("the SDK panicked at what was answered")
)

// Exchange is one request and its answer. It belongs to one goroutine.
type Exchange struct {
	client  *Client
	parent  context.Context //nolint:containedctx // an Exchange is one call, and ends with it
	ctx     context.Context //nolint:containedctx // as above
	cancel  context.CancelCauseFunc
	rewrite func(body []byte) ([]byte, error)
	// host is who was asked.
	host string
	// failed is why there is no answer, broken that its transfer broke off, which is no matter once it was complete.
	failed, broken *summarizers.ProviderError
	// overlong says that the stream was ended since it did not.
	overlong bool
}

// Begin begins an exchange, and returns the context to call the SDK with. It must be ended by End.
func (c *Client) Begin(ctx context.Context) (context.Context, *Exchange) {
	x := &Exchange{client: c, parent: ctx}
	x.ctx, x.cancel = context.WithCancelCause(context.WithValue(ctx, exchangeKey{}, x))
	return x.ctx, x
}

// Rewrite has the body that the SDK wrote changed before it is sent. SDKs write raw JSON anew when they are given some: they
// escape characters and order fields, and a provider's cache knows a prompt by its every byte.
func (x *Exchange) Rewrite(change func(body []byte) ([]byte, error)) { x.rewrite = change }

// End closes the request, if it is still open.
func (x *Exchange) End() { x.cancel(errDone) }

// Fail says why what was answered is no answer.
func (x *Exchange) Fail(err *summarizers.ProviderError) {
	if x.failed == nil {
		x.failed = err
	}
}

// Step has an SDK take in the next part of the answer. What comes from outside must not end the daemon, whatever an SDK
// makes of it.
func (x *Exchange) Step(next func() bool) (more bool) {
	defer func() {
		if recover() != nil {
			x.Fail(malformed(errPanic))
			more = false
		}
	}()
	return next()
}

// Finish returns what has become of the exchange: the answer if it is complete, which is for the provider to say, and else
// why not. err is the SDK's.
func (x *Exchange) Finish(answer *llm.Answer, text *Text, complete bool, err error) (*llm.Answer, error) {
	failure := x.failure(complete, text.full || x.overlong, err)
	if failure != nil {
		var told *summarizers.ProviderError
		if errors.As(failure, &told) {
			told.Host = x.host
		}
		if answer.Usage == nil {
			return nil, failure
		}
		return &llm.Answer{Model: answer.Model, Usage: answer.Usage}, failure
	}
	answer.Text = text.String()
	answer.CutOff = answer.CutOff || !complete
	return answer, nil
}

func (x *Exchange) failure(complete, overlong bool, err error) error {
	switch {
	case x.parent.Err() != nil:
		return context.Cause(x.parent)
	case x.failed != nil:
		return x.failed
	case complete || overlong:
		return nil
	case x.broken != nil:
		return x.broken
	case err != nil:
		return malformed(err)
	default:
		return &summarizers.ProviderError{Code: codeCut, Retryable: true}
	}
}
