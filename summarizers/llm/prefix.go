package llm

import (
	"context"
	"errors"

	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/prompts"
)

// errView says that the agent's own prompt could not be drawn.
var errView = errors.New("the agent's own prompt could not be drawn")

// rides says whether the summary is to be written on the agent's own prompt.
func (w *writer) rides() bool {
	return w.req.View != nil && w.req.Kind == summarizers.History
}

// ride writes the summary on the agent's own prompt, in one request.
func (w *writer) ride(ctx context.Context) (string, error) {
	q, err := w.prefixed(ctx)
	if err != nil {
		return "", err
	}
	text, err := w.ask(ctx, q)
	if err != nil {
		return "", err
	}
	w.tellRead(messageTokens(w.req))
	return text, nil
}

// prefixed is the agent's own prompt with the instruction behind it.
func (w *writer) prefixed(ctx context.Context) (*question, error) {
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

// asTextInstead says whether what failed on the agent's own prompt may go well with the conversation as text. A provider
// that does not take the key or does not know the model takes no other request either, and one that was asked as often
// as may be is left alone. So is a model whose answer was refused twice.
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

// whyAsText says what failed on the agent's own prompt.
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

// messageTokens are the stored tokens of the request's messages.
func messageTokens(req *summarizers.Request) uint32 {
	var total uint64
	for _, m := range req.Messages {
		total += uint64(m.GetTokens())
	}
	return uint32(min(total, 1<<32-1))
}
