package llm

import (
	"context"
	"strings"

	"go.opentelemetry.io/otel/attribute"

	"github.com/compactord/compactord/tracing"
)

// providers are the names of providers in the semantic conventions of generative AI, by the kind of a profile.
var providers = map[string]string{"openai": "openai", "anthropic": "anthropic", "gemini": "gcp.gemini"}

// request begins the span of one request to the model. The trace ends here: its id is not sent to the provider.
func (s *Summarizer) request(ctx context.Context, c *Completion) (context.Context, tracing.Span) {
	model := s.profile.Model
	return tracing.BeginRequest(ctx, "chat "+model,
		attribute.String("gen_ai.operation.name", "chat"), attribute.String("gen_ai.provider.name", providers[s.profile.Kind]),
		attribute.String("gen_ai.request.model", model), attribute.Int64("gen_ai.request.max_tokens", int64(c.MaxOutputTokens)))
}

// endRequest ends it with what the answer cost, also where there is only that.
func endRequest(span tracing.Span, answer *Answer, err error) {
	if answer != nil && span.Recording() {
		if isName(answer.Model) {
			span.Set(attribute.String("gen_ai.response.model", answer.Model))
		}
		if used := answer.Usage; used != nil {
			// By the semantic conventions, the input is all of it; ours leaves out what was cached.
			input := used.GetInputTokens() + used.GetCacheReadTokens() + used.GetCacheWriteTokens()
			span.Set(
				attribute.Int64("gen_ai.usage.input_tokens", int64(input)),
				attribute.Int64("gen_ai.usage.cache_read.input_tokens", int64(used.GetCacheReadTokens())),
				attribute.Int64("gen_ai.usage.cache_creation.input_tokens", int64(used.GetCacheWriteTokens())),
				attribute.Int64("gen_ai.usage.output_tokens", int64(used.GetOutputTokens())),
			)
		}
	}
	span.EndWith(err)
}

// maxName is longer than the name of any model.
const maxName = 128

// isName says whether what a server calls its model can be a name, and is not a text.
func isName(text string) bool {
	const marks = "-_.:/@"
	for _, r := range text {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !letter && !strings.ContainsRune(marks, r) {
			return false
		}
	}
	return text != "" && len(text) <= maxName
}
