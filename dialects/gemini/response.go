package gemini

import (
	"encoding/json"
	"math"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// stopReasons are the finish reasons. Other words have no stop reason.
var stopReasons = map[string]compactordv1.StopReason{
	"STOP":                     compactordv1.StopReason_STOP_REASON_END,
	"MAX_TOKENS":               compactordv1.StopReason_STOP_REASON_LENGTH,
	"CONTINUATION":             compactordv1.StopReason_STOP_REASON_LENGTH,
	"SAFETY":                   compactordv1.StopReason_STOP_REASON_REFUSAL,
	"RECITATION":               compactordv1.StopReason_STOP_REASON_REFUSAL,
	"LANGUAGE":                 compactordv1.StopReason_STOP_REASON_REFUSAL,
	"BLOCKLIST":                compactordv1.StopReason_STOP_REASON_REFUSAL,
	"PROHIBITED_CONTENT":       compactordv1.StopReason_STOP_REASON_REFUSAL,
	"SPII":                     compactordv1.StopReason_STOP_REASON_REFUSAL,
	"MODEL_ARMOR":              compactordv1.StopReason_STOP_REASON_REFUSAL,
	"IMAGE_SAFETY":             compactordv1.StopReason_STOP_REASON_REFUSAL,
	"IMAGE_PROHIBITED_CONTENT": compactordv1.StopReason_STOP_REASON_REFUSAL,
	"IMAGE_RECITATION":         compactordv1.StopReason_STOP_REASON_REFUSAL,
	"MALFORMED_FUNCTION_CALL":  compactordv1.StopReason_STOP_REASON_ERROR,
	"UNEXPECTED_TOOL_CALL":     compactordv1.StopReason_STOP_REASON_ERROR,
	"TOO_MANY_TOOL_CALLS":      compactordv1.StopReason_STOP_REASON_ERROR,
	"NO_IMAGE":                 compactordv1.StopReason_STOP_REASON_ERROR,
	"IMAGE_OTHER":              compactordv1.StopReason_STOP_REASON_ERROR,
}

// fillFromResponse sets the fields of the one message that come from the response.
func (p *parser) fillFromResponse(b *body) error {
	p.parsed.Response = true
	p.at, p.part = 0, 0
	if b.candidates > 1 {
		p.find(dialect.InputChoicesLeftOut, "the response has several candidates; the first one counts")
	}
	if len(p.parsed.Messages) != 1 || p.parsed.Messages[0].GetRole() != compactordv1.Role_ROLE_ASSISTANT {
		return rawjson.In("role", errRole)
	}
	m := p.parsed.Messages[0]
	var err error
	if m.Model, err = textIn(b.response, "modelVersion", "model_version", dialect.MaxName); err != nil {
		return err
	}
	if m.Usage, err = parseUsage(either(b.response, "usageMetadata", "usage_metadata")); err != nil {
		return rawjson.In("usageMetadata", err)
	}
	reason, err := textIn(b.candidate, "finishReason", "finish_reason", dialect.MaxName)
	if err != nil {
		return err
	}
	m.StopReason, p.parsed.ProviderStop = stopReasons[reason], reason
	if m.GetStopReason() == compactordv1.StopReason_STOP_REASON_END && len(openCallsOf(m).ids) > 0 {
		m.StopReason = compactordv1.StopReason_STOP_REASON_TOOL_USE
	}
	if m.GetStopReason() == compactordv1.StopReason_STOP_REASON_ERROR {
		m.ErrorText, err = textIn(b.candidate, "finishMessage", "finish_message", dialect.MaxErrorText)
	}
	return err
}

// textIn returns a field in either spelling. Empty where it is missing.
func textIn(o rawjson.Object, camel, snake string, limit int) (string, error) {
	return rawjson.Object{camel: either(o, camel, snake)}.BoundedText(camel, limit)
}

// parseUsage reads token counts. Gemini's prompt count includes what was cached, and does not include the input of
// server tools.
func parseUsage(raw json.RawMessage) (*compactordv1.Usage, error) {
	if raw == nil {
		return nil, nil
	}
	o, err := rawjson.SplitObject(raw)
	if err != nil {
		return nil, err
	}
	var prompt, cached, candidates, thoughts, tools, total uint64
	for _, c := range []struct {
		camel, snake string
		count        *uint64
	}{
		{"promptTokenCount", "prompt_token_count", &prompt},
		{"cachedContentTokenCount", "cached_content_token_count", &cached},
		{"candidatesTokenCount", "candidates_token_count", &candidates},
		{"thoughtsTokenCount", "thoughts_token_count", &thoughts},
		{"toolUsePromptTokenCount", "tool_use_prompt_token_count", &tools},
		{"totalTokenCount", "total_token_count", &total},
	} {
		n, err := rawjson.Object{c.camel: either(o, c.camel, c.snake)}.Count(c.camel)
		if err != nil {
			return nil, err
		}
		*c.count = uint64(n)
	}
	u := &compactordv1.Usage{
		InputTokens:     clamp(prompt - min(cached, prompt) + tools),
		OutputTokens:    clamp(candidates + thoughts),
		CacheReadTokens: clamp(cached),
		TotalTokens:     clamp(total),
	}
	if u.GetInputTokens()|u.GetOutputTokens()|u.GetCacheReadTokens()|u.GetTotalTokens() == 0 {
		return nil, nil
	}
	return u, nil
}

func clamp(n uint64) uint32 { return uint32(min(n, math.MaxUint32)) }
