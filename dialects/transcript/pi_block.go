package transcript

import (
	"encoding/json"
	"slices"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	"github.com/compactord/compactord/dialects/openairesponses"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// piBlock parses one element of a message's content.
func piBlock(raw json.RawMessage, d compactordv1.Dialect, r *noteCounter, allowed []string) (*compactordv1.Part, error) {
	o, err := rawjson.ParseObject(raw)
	if err != nil {
		return nil, err
	}
	kind, err := o.DemandText("type")
	if err != nil {
		return nil, err
	}
	if !slices.Contains(allowed, kind) {
		return nil, rawjson.In("type", errPiContent)
	}
	switch kind {
	case "text":
		text, err := o.DemandText("text")
		if err != nil {
			return nil, err
		}
		if len(text) > maxText {
			return nil, rawjson.In("text", rawjson.TooLarge(len(text), maxText))
		}
		part := textPart(text)
		return part, piSignature(part, o, "textSignature", d, r)
	case "thinking":
		return piThinking(o, d, r)
	case "toolCall":
		return piToolCall(o, d, r)
	default:
		return piImage(o)
	}
}

func piThinking(o rawjson.Object, d compactordv1.Dialect, r *noteCounter) (*compactordv1.Part, error) {
	text, err := o.BoundedText("thinking", maxText)
	if err != nil {
		return nil, err
	}
	redacted, err := o.Truth("redacted")
	if err != nil {
		return nil, err
	}
	if d == compactordv1.Dialect_DIALECT_OPENAI_RESPONSES {
		return piReasoning(o, text, r), nil
	}
	part := thinkingPart(text)
	part.GetThinking().Redacted = redacted
	return part, piSignature(part, o, "thinkingSignature", d, r)
}

// piReasoning reads the reasoning of OpenAI Responses. Pi keeps the whole item as JSON in the signature.
func piReasoning(o rawjson.Object, text string, r *noteCounter) *compactordv1.Part {
	signature, err := o.Text("thinkingSignature")
	if err != nil || signature == "" {
		return thinkingPart(text)
	}
	parsed, err := openairesponses.New().Parse([]byte(signature))
	if err == nil && len(parsed.Messages) == 1 && len(parsed.Messages[0].GetParts()) == 1 {
		if part := parsed.Messages[0].GetParts()[0]; part.GetThinking() != nil {
			return part
		}
	}
	r.add(signatureLost)
	return thinkingPart(text)
}

func piToolCall(o rawjson.Object, d compactordv1.Dialect, r *noteCounter) (*compactordv1.Part, error) {
	call := &compactordv1.ToolCall{}
	var err error
	if call.Id, err = o.BoundedText("id", maxID); err != nil {
		return nil, err
	}
	if call.Name, err = toolName(o); err != nil {
		return nil, err
	}
	if call.Arguments, err = arguments(o); err != nil {
		return nil, err
	}
	part := &compactordv1.Part{Kind: &compactordv1.Part_ToolCall{ToolCall: call}}
	return part, piSignature(part, o, "thoughtSignature", d, r)
}

func piImage(o rawjson.Object) (*compactordv1.Part, error) {
	encoded, err := o.DemandText("data")
	if err != nil {
		return nil, err
	}
	mime, err := o.BoundedText("mimeType", maxName)
	if err != nil {
		return nil, err
	}
	if mime == "" {
		return nil, rawjson.In("mimeType", rawjson.ErrMissing)
	}
	data, err := dialect.DecodeBase64(encoded)
	if err != nil {
		return nil, rawjson.In("data", err)
	}
	return mediaPart(&compactordv1.MediaPart{
		MimeType: mime,
		Source:   &compactordv1.MediaPart_Data{Data: data},
	}), nil
}

// piSignature attaches the signature that the provider demands back with a part. Pi has other names for the field.
func piSignature(part *compactordv1.Part, o rawjson.Object, field string, d compactordv1.Dialect, r *noteCounter) error {
	signature, err := o.Text(field)
	if err != nil || signature == "" {
		return err
	}
	// For OpenAI Responses these are ids of items, which mean nothing without their items.
	if d == compactordv1.Dialect_DIALECT_UNSPECIFIED || d == compactordv1.Dialect_DIALECT_OPENAI_RESPONSES {
		r.add(signatureLost)
		return nil
	}
	a, err := attachment(d, signatureKey(part, d), o[field])
	if err != nil {
		return err
	}
	part.Attachments = append(part.Attachments, a)
	return nil
}

// signatureKey returns the provider's name for a signature.
func signatureKey(part *compactordv1.Part, d compactordv1.Dialect) string {
	switch {
	case d == compactordv1.Dialect_DIALECT_GEMINI:
		return "thoughtSignature"
	case d == compactordv1.Dialect_DIALECT_ANTHROPIC && part.GetThinking().GetRedacted():
		return "data"
	default:
		return "signature"
	}
}
