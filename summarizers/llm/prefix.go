package llm

import (
	"context"
	"errors"

	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/prompts"
)

// errView says that the agent's own prompt could not be rendered.
var errView = errors.New("the agent's own prompt could not be drawn")

// onCachedPrefix says whether the request asks for a summary on the agent's own prompt, whose start the provider has
// cached.
func (w *writer) onCachedPrefix() bool {
	return w.req.View != nil && w.req.Kind == summarizers.History
}

// writeOnPrefix writes the summary on the agent's own prompt, in one request.
func (w *writer) writeOnPrefix(ctx context.Context) (string, error) {
	q, err := w.prefixed(ctx)
	if err != nil {
		return "", err
	}
	text, err := w.ask(ctx, q)
	if err != nil {
		return "", err
	}
	w.reportRead(messageTokens(w.req))
	return text, nil
}

// mostBytesPerToken is more bytes than a token of a prompt has. Of natural text it has 2 to 5. A longer prompt is not drawn,
// since all of it would be in memory.
const mostBytesPerToken = 16

// prefixed returns a question that consists of the agent's own prompt and the instruction after it.
func (w *writer) prefixed(ctx context.Context) (*question, error) {
	if uint64(w.req.ViewBytes) > mostBytesPerToken*uint64(w.budget.prompt) {
		return nil, tooLarge(errPromptTooLong)
	}
	view, err := w.req.View(ctx, w.by.provider.Dialect())
	if errors.Is(err, summarizers.ErrSecretInItem) {
		return nil, err
	}
	if err != nil || view == nil {
		return nil, errView
	}
	tokens, err := w.counter.view(view)
	if err != nil {
		return nil, errView
	}
	closing := prompts.Closing(w.req)
	if tokens += w.counter.text(closing.Text); tokens > w.budget.prompt {
		return nil, tooLarge(errPromptTooLong)
	}
	return &question{
		completion: &Completion{View: view, User: closing.Text, Effort: w.budget.effort(&w.by.profile, w.req.Kind)},
		tokens:     tokens, output: w.budget.output, req: w.asked,
	}, nil
}

// asTextInstead says whether a request with the conversation as text may succeed after the one on the agent's own
// prompt failed with err. It may not if the provider refuses the key or the model, if the request failed as often as is
// allowed, or if the model's answer was refused twice.
func asTextInstead(err error) bool {
	var refused *summarizers.CheckError
	if errors.As(err, &refused) {
		return false
	}
	var failure *summarizers.ProviderError
	if !errors.As(err, &failure) {
		return true
	}
	return failure.Overflow || !failure.Retryable && !failure.RefusesAll
}

// whyAsText returns the AsText word for a failure on the agent's own prompt.
func whyAsText(err error) string {
	switch {
	case errors.Is(err, summarizers.ErrSecretInItem):
		return summarizers.AsTextSecret
	case errors.Is(err, errView):
		return summarizers.AsTextNotDrawn
	case errors.Is(err, errPromptTooLong):
		return summarizers.AsTextDoesNotFit
	case isOverflow(err):
		return summarizers.AsTextOverflow
	default:
		return summarizers.AsTextRefused
	}
}

// messageTokens returns the sum of the stored token counts of the request's messages.
func messageTokens(req *summarizers.Request) uint32 {
	var total uint64
	for _, m := range req.Messages {
		total += uint64(m.GetTokens())
	}
	return uint32(min(total, 1<<32-1))
}
