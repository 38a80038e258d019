package llm

import (
	"context"
	"math"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/prompts"
)

// Estimate returns what a request would cost if each answer used its whole budget and no request were repeated. It
// sends nothing. It counts the agent's own prompt as read from the provider's cache if the profile has a price for
// that.
func (s *Summarizer) Estimate(ctx context.Context, req *summarizers.Request) (*summarizers.Estimate, error) {
	w, err := s.writer(req, nil)
	if err != nil {
		return nil, err
	}
	if w.onCachedPrefix() {
		q, err := w.prefixed(ctx)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err == nil {
			return w.estimateOnPrefix(q), nil
		}
		// Otherwise the conversation is sent as text, and that is what is estimated.
	}
	return w.estimateAsText(ctx)
}

// estimateOnPrefix estimates the one request on the agent's own prompt.
func (w *writer) estimateOnPrefix(q *question) *summarizers.Estimate {
	u := &compactordv1.Usage{InputTokens: q.tokens, OutputTokens: w.req.MaxTokens}
	if w.by.profile.Price.GetCacheRead() > 0 {
		u.InputTokens = w.counter.text(q.completion.User)
		u.CacheReadTokens = q.tokens - u.GetInputTokens()
	}
	return &summarizers.Estimate{Calls: 1, InputTokens: q.tokens, CostUSD: cost(w.by.profile.Price, u)}
}

// estimateAsText estimates the requests with the conversation as text.
func (w *writer) estimateAsText(ctx context.Context) (*summarizers.Estimate, error) {
	fold, err := prompts.Fold(w.req, prompts.Limits{PromptTokens: w.budget.prompt, Count: w.counter.text})
	if err != nil {
		return nil, foldFailure(err)
	}
	var calls, answer uint32
	var input, output uint64
	for {
		prompt, err := fold.Next(ctx)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			return nil, foldFailure(err)
		}
		if prompt == nil {
			u := &compactordv1.Usage{InputTokens: uint32(min(input, math.MaxUint32)), OutputTokens: uint32(min(output, math.MaxUint32))}
			return &summarizers.Estimate{Calls: calls, InputTokens: u.GetInputTokens(), CostUSD: cost(w.by.profile.Price, u)}, nil
		}
		calls++
		input += uint64(prompt.Tokens)
		if prompt.GoesOn {
			// This prompt contains the answer to the one before.
			input += uint64(answer)
		}
		answer = prompt.MaxTokens
		output += uint64(answer)
	}
}
