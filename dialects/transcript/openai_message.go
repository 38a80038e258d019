package transcript

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Bounds of the contract. What breaks one is refused here, where the line is known.
const (
	maxText        = 32 << 20
	maxName        = 256
	maxID          = 512
	maxFileName    = 1024
	maxURI         = 8 << 10
	maxErrorText   = 64 << 10
	maxParts       = 10_000
	maxResultParts = 1000
	maxAttachments = 64
)

var (
	errUnknownRole = errors.New("unknown role; known are system, developer, user, assistant and tool")
	errOfAssistant = errors.New("only a message of role assistant may have it")
	errNoPlace     = errors.New("has no place in a message and would be lost")
)

// openAIMessage parses one message of the OpenAI Chat Completions shape, with the fields that transcripts add to it:
// reasoning_content, is_error, usage, model, stop_reason. Other fields become attachments.
func openAIMessage(raw json.RawMessage) (*compactordv1.Message, error) {
	o, err := rawjson.ParseObject(raw)
	if err != nil {
		return nil, err
	}
	role, err := o.DemandText("role")
	if err != nil {
		return nil, err
	}
	m := &compactordv1.Message{Origin: compactordv1.Origin_ORIGIN_IMPORT}
	known := []string{"role", "content", "name"}
	if role != "assistant" {
		for _, key := range []string{"reasoning_content", "tool_calls", "refusal"} {
			if o.Has(key) {
				return nil, rawjson.In(key, errOfAssistant)
			}
		}
	}
	for _, key := range []string{"function_call", "audio"} {
		if o.Has(key) {
			return nil, rawjson.In(key, errNoPlace)
		}
	}
	switch role {
	case "system":
		m.Role = compactordv1.Role_ROLE_SYSTEM
		m.Parts, err = openAIContent(o, "text")
	case "developer":
		m.Role = compactordv1.Role_ROLE_DEVELOPER
		m.Parts, err = openAIContent(o, "text")
	case "user":
		m.Role = compactordv1.Role_ROLE_USER
		m.Parts, err = openAIContent(o, "text", "image_url", "input_audio", "file")
	case "assistant":
		m.Role = compactordv1.Role_ROLE_ASSISTANT
		known = append(known, "reasoning_content", "tool_calls", "refusal", "model", "usage")
		var stop string
		stop, err = openAIAssistant(m, o)
		known = append(known, stop)
	case "tool":
		m.Role = compactordv1.Role_ROLE_TOOL
		known = append(known, "tool_call_id", "is_error")
		err = openAIToolResult(m, o)
	default:
		err = rawjson.In("role", errUnknownRole)
	}
	if err != nil {
		return nil, err
	}
	if role != "tool" {
		if m.Name, err = o.BoundedText("name", maxName); err != nil {
			return nil, err
		}
	}
	m.Attachments, err = openAIAttachments(o, known...)
	return m, err
}

// openAIAssistant fills what only assistants have. It returns the field that told why the model stopped.
func openAIAssistant(m *compactordv1.Message, o rawjson.Object) (stopField string, err error) {
	thinking, err := o.BoundedText("reasoning_content", maxText)
	if err != nil {
		return "", err
	}
	if thinking != "" {
		m.Parts = append(m.Parts, thinkingPart(thinking))
	}
	content, err := openAIContent(o, "text", "refusal", "image_url", "input_audio", "file")
	if err != nil {
		return "", err
	}
	m.Parts = append(m.Parts, content...)
	refusal, err := o.BoundedText("refusal", maxText)
	if err != nil {
		return "", err
	}
	if refusal != "" {
		m.Parts = append(m.Parts, textPart(refusal))
	}
	calls, err := openAIToolCalls(o)
	if err != nil {
		return "", err
	}
	m.Parts = append(m.Parts, calls...)
	if len(m.GetParts()) > maxParts {
		return "", errManyParts
	}
	if m.Model, err = o.BoundedText("model", maxName); err != nil {
		return "", err
	}
	if m.Usage, err = openAIUsage(o); err != nil {
		return "", err
	}
	m.StopReason, stopField = openAIStopReason(o)
	if m.GetStopReason() == compactordv1.StopReason_STOP_REASON_UNSPECIFIED && refusal != "" {
		m.StopReason = compactordv1.StopReason_STOP_REASON_REFUSAL
	}
	return stopField, nil
}

func openAIToolResult(m *compactordv1.Message, o rawjson.Object) error {
	parts, err := openAIContent(o, "text", "image_url", "input_audio", "file")
	if err != nil {
		return err
	}
	if len(parts) > maxResultParts {
		return rawjson.In("content", errManyParts)
	}
	result := &compactordv1.ToolResult{Parts: resultParts(parts)}
	if result.CallId, err = o.BoundedText("tool_call_id", maxID); err != nil {
		return err
	}
	if result.Name, err = o.BoundedText("name", maxName); err != nil {
		return err
	}
	if result.IsError, err = o.Truth("is_error"); err != nil {
		return err
	}
	m.Parts = []*compactordv1.Part{{Kind: &compactordv1.Part_ToolResult{ToolResult: result}}}
	return nil
}

// openAIStopReason reads why the model stopped, where the transcript tells. A word that is not known stays an attachment.
func openAIStopReason(o rawjson.Object) (reason compactordv1.StopReason, field string) {
	for _, field := range []string{"stop_reason", "finish_reason"} {
		if word, err := o.Text(field); err == nil {
			if reason, ok := stopReasons[strings.ToLower(word)]; ok {
				return reason, field
			}
		}
	}
	return compactordv1.StopReason_STOP_REASON_UNSPECIFIED, ""
}

// stopReasons holds the words of the providers, and of the transcripts that were made from them.
var stopReasons = map[string]compactordv1.StopReason{
	"stop":           compactordv1.StopReason_STOP_REASON_END,
	"end":            compactordv1.StopReason_STOP_REASON_END,
	"end_turn":       compactordv1.StopReason_STOP_REASON_END,
	"tool_calls":     compactordv1.StopReason_STOP_REASON_TOOL_USE,
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
