package transcript

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var errThinkingBlock = errors.New("unknown kind of block; known are thinking and redacted_thinking")

// litellmMessage parses a message of LiteLLM: OpenAI's shape, with Anthropic's thinking beside it. It ignores the
// fields in without, which belong to the tool that stored the message.
func litellmMessage(o rawjson.Object, notes *noteCounter, without ...string) (*compactordv1.Message, error) {
	// The usual fields also have what these fields hold in the provider's own form.
	without = append(without, "thinking_blocks", "provider_specific_fields")
	if o.Has("thinking_blocks") {
		without = append(without, "reasoning_content")
	}
	plain := make(rawjson.Object, len(o))
	for key, value := range o {
		if !slices.Contains(without, key) {
			plain[key] = value
		}
	}
	m, err := openAIMessage(plain.Encode(), notes)
	if err != nil {
		return nil, err
	}
	thinking, err := litellmThinking(o)
	if err != nil {
		return nil, err
	}
	m.Parts = append(thinking, m.GetParts()...)
	if len(m.GetParts()) > maxParts {
		return nil, errManyParts
	}
	return m, nil
}

func litellmThinking(o rawjson.Object) ([]*compactordv1.Part, error) {
	raws, err := o.Elements("thinking_blocks")
	if err != nil {
		return nil, err
	}
	if len(raws) > 0 && !o.IsText("role", "assistant") {
		return nil, rawjson.In("thinking_blocks", errOfAssistant)
	}
	parts := make([]*compactordv1.Part, 0, len(raws))
	for i, raw := range raws {
		part, err := anthropicThinking(raw)
		if err != nil {
			return nil, rawjson.In("thinking_blocks", rawjson.InElement(i, err))
		}
		parts = append(parts, part)
	}
	return parts, nil
}

// anthropicThinking parses a thinking block of Anthropic, with the signature that Anthropic demands back.
func anthropicThinking(raw json.RawMessage) (*compactordv1.Part, error) {
	o, err := rawjson.ParseObject(raw)
	if err != nil {
		return nil, err
	}
	text, err := o.BoundedText("thinking", maxText)
	if err != nil {
		return nil, err
	}
	part, proof := thinkingPart(text), "signature"
	switch {
	case o.IsText("type", "redacted_thinking"):
		part.GetThinking().Redacted, proof = true, "data"
	case !o.IsText("type", "thinking"):
		return nil, rawjson.In("type", errThinkingBlock)
	}
	if !o.Has(proof) {
		return part, nil
	}
	a, err := attachment(compactordv1.Dialect_DIALECT_ANTHROPIC, proof, o[proof])
	part.Attachments = []*compactordv1.Attachment{a}
	return part, err
}

// litellmResponse sets the fields of a message that come from its response: model, usage, and stop reason.
func litellmResponse(m *compactordv1.Message, response rawjson.Object) error {
	var err error
	if m.Model, err = response.BoundedText("model", maxName); err != nil {
		return err
	}
	usage, err := response.Sub("usage")
	if err != nil {
		return err
	}
	if usage != nil {
		if m.Usage, err = litellmUsage(usage); err != nil {
			return rawjson.In("usage", err)
		}
	}
	choice, err := litellmChoice(response)
	if err == nil && choice != nil {
		m.StopReason = openAIStopReason(choice)
	}
	return err
}

// litellmChoice returns the first choice of a response, or nil where it has none.
func litellmChoice(response rawjson.Object) (rawjson.Object, error) {
	choices, err := response.Elements("choices")
	if err != nil || len(choices) == 0 {
		return nil, err
	}
	choice, err := rawjson.ParseObject(choices[0])
	return choice, rawjson.In("choices", rawjson.InElement(0, err))
}

// litellmUsage reads tokens. The prompt includes what was read from or written to a cache, but not in older versions.
func litellmUsage(u rawjson.Object) (*compactordv1.Usage, error) {
	details, err := u.Sub("prompt_tokens_details")
	if err != nil {
		return nil, err
	}
	usage := &compactordv1.Usage{}
	err = counts(u,
		countField{"prompt_tokens", &usage.InputTokens},
		countField{"completion_tokens", &usage.OutputTokens},
		countField{"total_tokens", &usage.TotalTokens},
		countField{"cache_read_input_tokens", &usage.CacheReadTokens},
		countField{"cache_creation_input_tokens", &usage.CacheWriteTokens},
	)
	if err == nil && usage.GetCacheReadTokens() == 0 {
		err = rawjson.In("prompt_tokens_details", counts(details, countField{"cached_tokens", &usage.CacheReadTokens}))
	}
	if err != nil {
		return nil, err
	}
	// More cached tokens than the whole prompt: this is an older version.
	_ = subtractCached(usage)
	return usage, nil
}
