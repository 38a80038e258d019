package gemini

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

const noteUnsigned = "unsigned"

// The fields of a part that say what it is, those that a message has a kind of part for first.
const (
	fieldCall     = "functionCall"
	fieldResponse = "functionResponse"
	fieldInline   = "inlineData"
	fieldFile     = "fileData"
	fieldText     = "text"
)

var (
	errCallOfUser      = errors.New("stands in a content of the user; only the model calls functions")
	errKinds           = errors.New("says two things at once, such as a text and a call; each needs a part of its own")
	errResponseOfModel = errors.New("stands in a content of the model; responses are the user's")

	snakeKinds     = []string{"function_call", "function_response", "inline_data", "file_data"}
	modelledFields = []string{fieldCall, fieldResponse, fieldInline, fieldFile, fieldText}
	otherFields    = []string{
		"executableCode", "codeExecutionResult", "toolCall", "toolResponse",
		"executable_code", "code_execution_result", "tool_call", "tool_response",
	}
	// sideFields say something of a part, but nothing by themselves.
	sideFields = []string{
		"thought", "thoughtSignature", "thought_signature", "videoMetadata", "video_metadata", "mediaResolution",
		"media_resolution", "partMetadata", "part_metadata", "mediaProcessing", "media_processing", "speechMetadata",
		"speech_metadata", "audioTranscription", "audio_transcription",
	}
)

// kindOf returns the field that says what a part is; empty where there is none.
func kindOf(o rawjson.Object) string {
	for _, fields := range [][]string{modelledFields, otherFields} {
		for _, field := range fields {
			if o.Has(field) {
				return field
			}
		}
	}
	if unknown := o.Others(sideFields...); len(unknown) > 0 {
		return unknown[0]
	}
	return ""
}

// saysTwo says whether a part is of two kinds at once. An empty text beside something else is none.
func saysTwo(o rawjson.Object) bool {
	n := 0
	for _, fields := range [][]string{modelledFields, otherFields} {
		for _, field := range fields {
			if o.Has(field) && (field != fieldText || !isEmptyText(o, field)) {
				n++
			}
		}
	}
	return n > 1
}

// isEmptyText says whether a field is the empty text. There is one way to write that, and decoding a long one takes time.
func isEmptyText(o rawjson.Object, field string) bool { return string(o[field]) == `""` }

func isThought(o rawjson.Object) bool { return string(o["thought"]) == "true" }

// parsePart reads a part, whoever's it is.
func parsePart(raw json.RawMessage) (*compactordv1.Part, error) {
	o, err := rawjson.SplitObject(raw)
	if err != nil {
		return nil, err
	}
	o, snake := camel(o, "function_call", "function_response", "inline_data", "file_data", "thought_signature")
	field := kindOf(o)
	switch {
	case saysTwo(o):
		return nil, errKinds
	case field == fieldCall:
		return parseCall(o, snake)
	case field == fieldResponse:
		return parseResult(o, snake)
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

// hold fits a part into a message of a role, and reports what is odd about it.
func (p *parser) hold(
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

func isArguments(arguments string) bool {
	_, changed := dialect.ArgumentsObject(arguments)
	return !changed
}

func parseText(o rawjson.Object, snake []string) (*compactordv1.Part, error) {
	text, err := o.BoundedText(fieldText, dialect.MaxText)
	if err != nil {
		return nil, err
	}
	part := &compactordv1.Part{Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: text}}}
	d := drawText(text)
	if isThought(o) {
		part.Kind = &compactordv1.Part_Thinking{Thinking: &compactordv1.ThinkingPart{Text: text}}
		d = drawThought(text)
	}
	residue, err := d.residue(o, nil, snake)
	if err != nil {
		return nil, err
	}
	part.Attachments, err = bounded(residue)
	return part, err
}

func parseOpaque(raw json.RawMessage, field string) (*compactordv1.OpaquePart, error) {
	if len(raw) > dialect.MaxText {
		return nil, rawjson.TooLarge(len(raw), dialect.MaxText)
	}
	if len(field) > dialect.MaxName {
		return nil, errKey
	}
	return &compactordv1.OpaquePart{Dialect: kind, Type: field, Json: string(raw)}, nil
}

func parseCall(o rawjson.Object, snake []string) (*compactordv1.Part, error) {
	inner, err := rawjson.SplitObject(o[fieldCall])
	if err != nil {
		return nil, rawjson.In(fieldCall, err)
	}
	call, err := readCall(inner)
	if err != nil {
		return nil, rawjson.In(fieldCall, err)
	}
	d := drawCall(call)
	residue, err := d.residue(o, inner, snake)
	if err != nil {
		return nil, err
	}
	if !has(inner, "id") {
		residue = append(residue, leftOut(fieldCall+".id"))
	}
	if !o.Has("thoughtSignature") {
		residue = append(residue, dialect.Note(kind, noteUnsigned, ""))
	}
	part := &compactordv1.Part{Kind: &compactordv1.Part_ToolCall{ToolCall: call}}
	part.Attachments, err = bounded(residue)
	return part, err
}

func readCall(inner rawjson.Object) (*compactordv1.ToolCall, error) {
	name, err := inner.BoundedText("name", dialect.MaxName)
	if err != nil {
		return nil, err
	}
	if name == "" {
		return nil, rawjson.In("name", rawjson.ErrMissing)
	}
	id, err := inner.BoundedText("id", dialect.MaxID)
	if err != nil {
		return nil, err
	}
	call := &compactordv1.ToolCall{Id: id, Name: name}
	if inner.Has("args") {
		call.Arguments = string(inner["args"])
	}
	if len(call.GetArguments()) > dialect.MaxText {
		return nil, rawjson.In("args", rawjson.TooLarge(len(call.GetArguments()), dialect.MaxText))
	}
	return call, nil
}

// leftOut tells that a usual field was not there.
func leftOut(key string) *compactordv1.Attachment {
	return &compactordv1.Attachment{Dialect: kind, Key: key}
}

// isLeftOut says whether a usual field was not there.
func isLeftOut(attachments []*compactordv1.Attachment, key string) bool {
	return slices.ContainsFunc(attachments, func(a *compactordv1.Attachment) bool {
		return a.GetDialect() == kind && a.GetKey() == key && a.GetJson() == ""
	})
}
