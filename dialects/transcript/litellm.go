package transcript

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var errThinkingBlock = errors.New("unknown kind of block; known are thinking and redacted_thinking")

// litellmMessage parses a message as LiteLLM writes it: of OpenAI's shape, with Anthropic's thinking beside it. Fields in
// without are of the tool that kept it.
func litellmMessage(o rawjson.Object, notes *remarks, without ...string) (*compactordv1.Message, error) {
	// What a provider said in its own words stands in the usual fields too.
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

// anthropicThinking parses a thinking block of Anthropic's, with the field that Anthropic wants back.
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

// litellmResponse fills what a response tells of the message that it holds: model, usage, and why the model stopped.
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

// litellmChoice is the first choice of a response; nil where it has none.
func litellmChoice(response rawjson.Object) (rawjson.Object, error) {
	choices, err := response.Elements("choices")
	if err != nil || len(choices) == 0 {
		return nil, err
	}
	choice, err := rawjson.ParseObject(choices[0])
	return choice, rawjson.In("choices", rawjson.InElement(0, err))
}

// litellmUsage reads tokens. What went through a cache is part of the prompt, but was not in older versions.
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
	// More than the whole prompt: so it is an older version.
	_ = takeCached(usage)
	return usage, nil
}
