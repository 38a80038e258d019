package transcript

import (
	"encoding/json"
	"slices"

	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// langChainMessage parses one message, whose fields can be in an inner object.
func langChainMessage(raw json.RawMessage, notes *noteCounter) (*compactordv1.Message, error) {
	o, err := rawjson.ParseObject(raw)
	if err != nil {
		return nil, err
	}
	for _, wrapper := range []string{"kwargs", "data"} {
		if !o.Has(wrapper) {
			continue
		}
		fields, err := o.Sub(wrapper)
		if err != nil {
			return nil, err
		}
		if !fields.Has("type") {
			fields["type"] = langChainType(o)
		}
		m, err := langChainFields(fields, notes)
		return m, rawjson.In(wrapper, err)
	}
	return langChainFields(o, notes)
}

// langChainType returns the type of a message whose fields do not have it: the type beside the fields, or the class,
// which is the last name in `id`.
func langChainType(o rawjson.Object) json.RawMessage {
	path, err := o.Elements("id")
	if err != nil || len(path) == 0 {
		return o["type"]
	}
	classes := map[string]string{
		"HumanMessage": "human", "HumanMessageChunk": "human", "AIMessage": "ai", "AIMessageChunk": "ai",
		"SystemMessage": "system", "SystemMessageChunk": "system", "ToolMessage": "tool", "ToolMessageChunk": "tool",
	}
	var class string
	if json.Unmarshal(path[len(path)-1], &class) != nil {
		return nil
	}
	return rawjson.Quote(classes[class])
}

func langChainFields(o rawjson.Object, notes *noteCounter) (*compactordv1.Message, error) {
	kind, err := o.DemandText("type")
	if err != nil {
		return nil, err
	}
	m := &compactordv1.Message{Origin: compactordv1.Origin_ORIGIN_IMPORT}
	switch kind {
	case "human", "HumanMessageChunk":
		m.Role = compactordv1.Role_ROLE_USER
		m.Parts, err = langChainContent(o, notes, "text", "image_url")
	case "system", "SystemMessageChunk":
		m.Role = compactordv1.Role_ROLE_SYSTEM
		m.Parts, err = langChainContent(o, notes, "text")
	case "developer":
		m.Role = compactordv1.Role_ROLE_DEVELOPER
		m.Parts, err = langChainContent(o, notes, "text")
	case "ai", "AIMessageChunk":
		m.Role = compactordv1.Role_ROLE_ASSISTANT
		err = langChainAssistant(m, o, notes)
	case "tool", "ToolMessageChunk":
		m.Role = compactordv1.Role_ROLE_TOOL
		err = langChainResult(m, o, notes)
	default:
		err = rawjson.In("type", errLangChainKind)
	}
	if err != nil || kind == "tool" {
		return m, err
	}
	m.Name, err = o.BoundedText("name", maxName)
	return m, err
}

func langChainResult(m *compactordv1.Message, o rawjson.Object, notes *noteCounter) error {
	parts, err := langChainContent(o, notes, "text", "image_url")
	if err != nil {
		return err
	}
	m.Parts, err = toolResult(o, parts, o.IsText("status", "error"))
	return err
}

// langChainContent parses `content`: a text, or a list of texts and blocks of the allowed kinds.
func langChainContent(o rawjson.Object, notes *noteCounter, allowed ...string) ([]*compactordv1.Part, error) {
	if rawjson.KindOf(o["content"]) != rawjson.Array {
		text, err := o.BoundedText("content", maxText)
		if err != nil || text == "" {
			return nil, err
		}
		return []*compactordv1.Part{textPart(text)}, nil
	}
	return contentParts(o, notes, func(raw json.RawMessage) (*compactordv1.Part, error) { return langChainBlock(raw, allowed) })
}

// langChainBlock parses one block. It returns nil for a call, which is also in `tool_calls`.
func langChainBlock(raw json.RawMessage, allowed []string) (*compactordv1.Part, error) {
	if rawjson.KindOf(raw) == rawjson.String {
		text, err := rawjson.Object{"text": raw}.BoundedText("text", maxText)
		return textPart(text), err
	}
	o, err := rawjson.ParseObject(raw)
	if err != nil {
		return nil, err
	}
	kind, err := o.DemandText("type")
	if err != nil {
		return nil, err
	}
	if !slices.Contains(allowed, kind) {
		return nil, rawjson.In("type", errLangChainBlock)
	}
	switch kind {
	case "text":
		text, err := o.DemandText("text")
		if err == nil && len(text) > maxText {
			err = rawjson.In("text", rawjson.TooLarge(len(text), maxText))
		}
		return textPart(text), err
	case "image_url":
		return langChainImage(o)
	case "thinking", "redacted_thinking":
		return anthropicThinking(raw)
	default:
		return nil, nil
	}
}

// langChainAssistant sets the fields that only the model's messages have.
func langChainAssistant(m *compactordv1.Message, o rawjson.Object, notes *noteCounter) error {
	thinking, err := langChainReasoning(o)
	if err != nil {
		return err
	}
	content, err := langChainContent(o, notes, "text", "image_url", "thinking", "redacted_thinking", "tool_use", "input_json_delta")
	if err != nil {
		return err
	}
	m.Parts = append(thinking, content...)
	for _, field := range []string{"tool_calls", "invalid_tool_calls"} {
		calls, err := toolCalls(o, field, callFields{id: "id", arguments: "args"})
		if err != nil {
			return err
		}
		m.Parts = append(m.Parts, calls...)
	}
	if len(m.GetParts()) > maxParts {
		return errManyParts
	}
	if err := langChainResponse(m, o); err != nil {
		return rawjson.In("response_metadata", err)
	}
	m.Usage, err = langChainUsage(o)
	return rawjson.In("usage_metadata", err)
}

// langChainReasoning returns the reasoning of models that send it beside the content.
func langChainReasoning(o rawjson.Object) ([]*compactordv1.Part, error) {
	beside, err := o.Sub("additional_kwargs")
	if err != nil {
		return nil, err
	}
	text, err := beside.BoundedText("reasoning_content", maxText)
	if err != nil || text == "" {
		return nil, rawjson.In("additional_kwargs", err)
	}
	return []*compactordv1.Part{thinkingPart(text)}, nil
}

// langChainResponse reads model and stop reason, in the provider's words.
func langChainResponse(m *compactordv1.Message, o rawjson.Object) error {
	response, err := o.Sub("response_metadata")
	if err != nil {
		return err
	}
	for _, field := range []string{"model_name", "model"} {
		if m.GetModel() == "" {
			if m.Model, err = response.BoundedText(field, maxName); err != nil {
				return err
			}
		}
	}
	m.StopReason = openAIStopReason(response)
	return nil
}

// langChainUsage reads the tokens. The input includes what was read from or written to a cache.
func langChainUsage(o rawjson.Object) (*compactordv1.Usage, error) {
	u, err := o.Sub("usage_metadata")
	if err != nil || u == nil {
		return nil, err
	}
	details, err := u.Sub("input_token_details")
	if err != nil {
		return nil, err
	}
	usage := &compactordv1.Usage{}
	err = counts(u,
		countField{"input_tokens", &usage.InputTokens},
		countField{"output_tokens", &usage.OutputTokens},
		countField{"total_tokens", &usage.TotalTokens},
	)
	if err != nil {
		return nil, err
	}
	err = counts(details,
		countField{"cache_read", &usage.CacheReadTokens},
		countField{"cache_creation", &usage.CacheWriteTokens},
	)
	if err != nil {
		return nil, rawjson.In("input_token_details", err)
	}
	return usage, subtractCached(usage)
}

// subtractCached subtracts what was read from or written to a cache from the input, which includes it.
func subtractCached(usage *compactordv1.Usage) error {
	cached := uint64(usage.GetCacheReadTokens()) + uint64(usage.GetCacheWriteTokens())
	if cached > uint64(usage.GetInputTokens()) {
		return errMoreCached
	}
	usage.InputTokens -= uint32(cached)
	return nil
}
