package llm

import (
	"context"
	"math"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/prompts"
)

// Estimate says what a request takes if each answer is as large as its budget and nothing has to be repeated. Nothing is
// sent. What the agent's own prompt holds is priced as served by the cache where that has a price.
func (s *Summarizer) Estimate(ctx context.Context, req *summarizers.Request) (*summarizers.Estimate, error) {
	w, err := s.writer(req, nil)
	if err != nil {
		return nil, err
	}
	if w.rides() {
		q, err := w.prefixed(ctx)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err == nil {
			return w.onPrefix(q), nil
		}
	}
	return w.folded(ctx)
}

// onPrefix is what the one request on the agent's own prompt takes.
func (w *writer) onPrefix(q *question) *summarizers.Estimate {
	u := &compactordv1.Usage{InputTokens: q.tokens, OutputTokens: w.req.MaxTokens}
	if w.by.profile.Price.GetCacheRead() > 0 {
		u.InputTokens = w.counter.text(q.completion.User)
		u.CacheReadTokens = q.tokens - u.GetInputTokens()
	}
	return &summarizers.Estimate{Calls: 1, InputTokens: q.tokens, CostUSD: cost(w.by.profile.Price, u)}
}

// folded is what the conversation as text takes.
func (w *writer) folded(ctx context.Context) (*summarizers.Estimate, error) {
	folding, err := prompts.Fold(w.req, prompts.Limits{PromptTokens: w.budget.prompt, Count: w.counter.text})
	if err != nil {
		return nil, foldingFailure(err)
	}
	var calls, answer uint32
	var input, output uint64
	for {
		prompt, err := folding.Next(ctx)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			return nil, foldingFailure(err)
		}
		if prompt == nil {
			u := &compactordv1.Usage{InputTokens: uint32(min(input, math.MaxUint32)), OutputTokens: uint32(min(output, math.MaxUint32))}
			return &summarizers.Estimate{Calls: calls, InputTokens: u.GetInputTokens(), CostUSD: cost(w.by.profile.Price, u)}, nil
		}
		calls++
		input += uint64(prompt.Tokens)
		if prompt.GoesOn {
			input += uint64(answer)
		}
		answer = prompt.MaxTokens
		output += uint64(answer)
	}
}
