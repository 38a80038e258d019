package openaichat

import (
	"errors"
	"slices"
	"strings"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// fillFromResponse sets the fields of the message that come from the response, where the message itself has none.
func (b *body) fillFromResponse(parsed *dialect.Parsed) error {
	m := parsed.Messages[0]
	if m.GetRole() != compactordv1.Role_ROLE_ASSISTANT {
		return rawjson.In("role", errResponse)
	}
	if m.GetUsage() == nil {
		usage, err := parseUsage(b.response)
		if err != nil {
			return err
		}
		m.Usage = usage
	}
	if m.GetModel() == "" {
		model, err := b.response.BoundedText("model", dialect.MaxName)
		if err != nil {
			return err
		}
		m.Model = model
	}
	parsed.ProviderStop = providerStop(b.choice)
	// The provider's word for the end of a refusal is that of any other answer.
	if m.GetStopReason() == compactordv1.StopReason_STOP_REASON_UNSPECIFIED {
		m.StopReason = stopReasonOf(b.choice)
	}
	if b.choices > 1 {
		parsed.Findings = slices.Insert(parsed.Findings, 0, dialect.Finding{
			Rule: dialect.InputChoicesLeftOut,
			Text: "The response has more than one choice; the first one counts, the others are left out.",
		})
	}
	return nil
}

var errMoreCached = errors.New("is more than the whole prompt")

// parseUsage reads the reported tokens. Two shapes are in use: one with input_tokens, which excludes what came from a
// cache, and OpenAI's own with prompt_tokens, which includes it.
func parseUsage(o rawjson.Object) (*compactordv1.Usage, error) {
	u, err := o.Sub("usage")
	if err != nil || u == nil {
		return nil, err
	}
	usage := &compactordv1.Usage{}
	if u.Has("prompt_tokens") {
		err = promptUsage(usage, u)
	} else {
		err = counts(u,
			countField{"input_tokens", &usage.InputTokens},
			countField{"output_tokens", &usage.OutputTokens},
			countField{"cache_read_tokens", &usage.CacheReadTokens},
			countField{"cache_write_tokens", &usage.CacheWriteTokens},
		)
	}
	if err == nil {
		usage.TotalTokens, err = u.Count("total_tokens")
	}
	return usage, rawjson.In("usage", err)
}

func promptUsage(usage *compactordv1.Usage, u rawjson.Object) error {
	err := counts(u,
		countField{"prompt_tokens", &usage.InputTokens},
		countField{"completion_tokens", &usage.OutputTokens},
	)
	if err != nil {
		return err
	}
	field := "prompt_tokens_details"
	details, err := u.Sub(field)
	if err != nil {
		return err
	}
	if details.Has("cached_tokens") || details.Has("cache_write_tokens") {
		err = rawjson.In(field, counts(details,
			countField{"cached_tokens", &usage.CacheReadTokens},
			countField{"cache_write_tokens", &usage.CacheWriteTokens},
		))
		field += ".cached_tokens"
	} else {
		// DeepSeek has another name for it.
		field = "prompt_cache_hit_tokens"
		err = counts(u, countField{field, &usage.CacheReadTokens})
	}
	if err != nil {
		return err
	}
	cached := uint64(usage.GetCacheReadTokens()) + uint64(usage.GetCacheWriteTokens())
	if cached > uint64(usage.GetInputTokens()) {
		return rawjson.In(field, errMoreCached)
	}
	usage.InputTokens -= uint32(cached)
	return nil
}

// countField is a field that holds a count, and the destination of the count.
type countField struct {
	key  string
	into *uint32
}

func counts(o rawjson.Object, fields ...countField) error {
	for _, f := range fields {
		var err error
		if *f.into, err = o.Count(f.key); err != nil {
			return err
		}
	}
	return nil
}

// stopReasonOf returns why the model stopped. An unknown word has no stop reason.
func stopReasonOf(o rawjson.Object) compactordv1.StopReason {
	for _, field := range []string{"stop_reason", "finish_reason"} {
		if word, err := o.Text(field); err == nil {
			if reason, ok := stopReasons[strings.ToLower(word)]; ok {
				return reason
			}
		}
	}
	return compactordv1.StopReason_STOP_REASON_UNSPECIFIED
}

// providerStop returns the provider's own word for why the model stopped. Empty where there is none.
func providerStop(o rawjson.Object) string {
	for _, field := range []string{"finish_reason", "stop_reason"} {
		if word, err := o.Text(field); err == nil && word != "" {
			return word
		}
	}
	return ""
}

// stopReasons holds the words of the providers, and of transcripts of their answers.
var stopReasons = map[string]compactordv1.StopReason{
	"stop":           compactordv1.StopReason_STOP_REASON_END,
	"end":            compactordv1.StopReason_STOP_REASON_END,
	"end_turn":       compactordv1.StopReason_STOP_REASON_END,
	"tool_calls":     compactordv1.StopReason_STOP_REASON_TOOL_USE,
	"function_call":  compactordv1.StopReason_STOP_REASON_TOOL_USE,
	"tool_use":       compactordv1.StopReason_STOP_REASON_TOOL_USE,
	"length":         compactordv1.StopReason_STOP_REASON_LENGTH,
	"max_tokens":     compactordv1.StopReason_STOP_REASON_LENGTH,
	"stop_sequence":  compactordv1.StopReason_STOP_REASON_STOP_SEQUENCE,
	"content_filter": compactordv1.StopReason_STOP_REASON_REFUSAL,
	"refusal":        compactordv1.StopReason_STOP_REASON_REFUSAL,
	"error":          compactordv1.StopReason_STOP_REASON_ERROR,
	"aborted":        compactordv1.StopReason_STOP_REASON_ABORTED,
	"pause_turn":     compactordv1.StopReason_STOP_REASON_PAUSE,
}
