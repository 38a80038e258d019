package gemini

import (
	"encoding/json"
	"errors"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var (
	errCallOfUser      = errors.New("is in a content of the user; only the model calls functions")
	errKinds           = errors.New("says two things at once, such as a text and a call; each needs a part of its own")
	errResponseOfModel = errors.New("is in a content of the model; responses are the user's")
)

// parsePart parses a part of any role.
func parsePart(raw json.RawMessage) (*compactordv1.Part, error) {
	o, err := rawjson.SplitObject(raw)
	if err != nil {
		return nil, err
	}
	o, snake := toCamelCase(o, "function_call", "function_response", "inline_data", "file_data", "thought_signature")
	field := kindOf(o)
	switch {
	case hasTwoKinds(o):
		return nil, errKinds
	case field == fieldCall:
		return parseCall(o, snake)
	case field == fieldResponse:
		return parseResult(o, snake)
	case (field == "" || field == fieldText) && isThought(o):
		return parseThinking(o, snake)
	case field == "" || field == fieldText:
		return parseText(o, snake)
	case (field == fieldInline || field == fieldFile) && !isThought(o):
		media, attachments, err := parseMedia(o, field, snake)
		if err != nil {
			return nil, err
		}
		return &compactordv1.Part{Kind: &compactordv1.Part_Media{Media: media}, Attachments: attachments}, nil
	default:
		opaque, err := parseOpaque(raw, field)
		return &compactordv1.Part{Kind: &compactordv1.Part_Opaque{Opaque: opaque}}, err
	}
}

// fitPart checks that a message of this role can hold a part, and reports what is malformed in it.
func (p *parser) fitPart(
	role compactordv1.Role, part *compactordv1.Part, raw json.RawMessage,
) (*compactordv1.Part, error) {
	ofModel := role == compactordv1.Role_ROLE_ASSISTANT
	switch {
	case part.GetToolCall() != nil && !ofModel:
		return nil, rawjson.In(fieldCall, errCallOfUser)
	case part.GetToolResult() != nil && ofModel:
		return nil, rawjson.In(fieldResponse, errResponseOfModel)
	case part.GetThinking() != nil && !ofModel:
		opaque, err := parseOpaque(raw, "thought")
		return &compactordv1.Part{Kind: &compactordv1.Part_Opaque{Opaque: opaque}}, err
	case part.GetToolCall() != nil && !isArguments(part.GetToolCall().GetArguments()):
		p.find(dialect.InputArgumentsNotJSON, "the args of the call are no JSON object; they were kept as they are")
	}
	return part, nil
}

func parseText(o rawjson.Object, snake []string) (*compactordv1.Part, error) {
	text, err := o.BoundedText(fieldText, dialect.MaxText)
	if err != nil {
		return nil, err
	}
	part := &compactordv1.Part{Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: text}}}
	residue, err := canonicalText(text).residue(o, nil, snake)
	if err != nil {
		return nil, err
	}
	part.Attachments = residue
	return part, dialect.BoundAttachments(residue)
}

func parseOpaque(raw json.RawMessage, field string) (*compactordv1.OpaquePart, error) {
	if len(field) > dialect.MaxName {
		return nil, errKey
	}
	return dialect.OpaqueOf(kind, field, raw)
}
