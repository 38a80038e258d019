package gemini

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// The forms of a response that are noted, and the keys in it that Gemini knows.
const (
	asObject  = "json"
	asValue   = "value"
	asText    = "text"
	keyResult = "result"
	keyOutput = "output"
	keyError  = "error"
)

func parseResult(o rawjson.Object, snake []string) (*compactordv1.Part, error) {
	inner, err := rawjson.SplitObject(o[fieldResponse])
	if err != nil {
		return nil, rawjson.In(fieldResponse, err)
	}
	result, notes, err := parseFunctionResponse(inner)
	if err != nil {
		return nil, rawjson.In(fieldResponse, err)
	}
	d := canonicalWrittenResult(result, noted(notes, noteResponse))
	residue, err := d.residue(o, inner, snake)
	if err != nil {
		return nil, err
	}
	residue = append(residue, notes...)
	if !has(inner, "id") {
		residue = append(residue, leftOut(fieldResponse+".id"))
	}
	part := &compactordv1.Part{Kind: &compactordv1.Part_ToolResult{ToolResult: result}}
	part.Attachments = residue
	return part, dialect.BoundAttachments(residue)
}

func parseFunctionResponse(inner rawjson.Object) (*compactordv1.ToolResult, []*compactordv1.Attachment, error) {
	name, err := inner.BoundedText("name", dialect.MaxName)
	if err != nil {
		return nil, nil, err
	}
	id, err := inner.BoundedText("id", dialect.MaxID)
	if err != nil {
		return nil, nil, err
	}
	result := &compactordv1.ToolResult{CallId: id, Name: name}
	var notes []*compactordv1.Attachment
	if inner.Has("response") {
		said := parseToolOutput(inner["response"])
		if len(said.text) > dialect.MaxText {
			return nil, nil, rawjson.In("response", rawjson.TooLarge(len(said.text), dialect.MaxText))
		}
		result.IsError = said.failed
		result.Parts = append(result.Parts, resultText(said.text))
		if said.form != "" {
			notes = append(notes, dialect.Note(kind, noteResponse, said.form))
		}
	}
	media, err := parseResultParts(inner)
	result.Parts = append(result.Parts, media...)
	return result, notes, err
}

// toolOutput is the content of a response.
type toolOutput struct {
	text string
	// form is the form of the response. Empty where it is the usual one.
	form   string
	failed bool
}

func parseToolOutput(raw json.RawMessage) toolOutput {
	switch rawjson.KindOf(raw) {
	case rawjson.String:
		text, _ := rawjson.Object{"": raw}.DemandText("")
		return toolOutput{text: text, form: asText}
	case rawjson.ObjectKind:
	default:
		return toolOutput{text: string(raw), form: asValue}
	}
	o, err := rawjson.ParseObject(raw)
	if err != nil {
		return toolOutput{text: string(raw), form: asValue}
	}
	for _, key := range []string{keyOutput, keyError, keyResult} {
		text, err := o.DemandText(key)
		if err != nil || len(o) != 1 {
			continue
		}
		s := toolOutput{text: text, failed: key == keyError}
		if key == keyResult {
			s.form = keyResult
		}
		return s
	}
	return toolOutput{text: string(raw), form: asObject, failed: o.Has(keyError) && !o.Has(keyOutput) && !o.Has(keyResult)}
}

func resultText(text string) *compactordv1.ResultPart {
	return &compactordv1.ResultPart{Kind: &compactordv1.ResultPart_Text{Text: &compactordv1.TextPart{Text: text}}}
}

// parseResultParts parses the files of a response.
func parseResultParts(inner rawjson.Object) ([]*compactordv1.ResultPart, error) {
	elements, err := inner.SplitElements("parts")
	if err != nil {
		return nil, err
	}
	// The response itself is one more part.
	if len(elements) >= dialect.MaxResultParts {
		return nil, rawjson.In("parts", rawjson.TooLarge(len(elements), dialect.MaxResultParts-1))
	}
	var parts []*compactordv1.ResultPart
	for i, element := range elements {
		part, err := parseResultPart(element)
		if err != nil {
			return nil, rawjson.In("parts", rawjson.InElement(i, err))
		}
		parts = append(parts, part)
	}
	return parts, nil
}

func parseResultPart(raw json.RawMessage) (*compactordv1.ResultPart, error) {
	o, err := rawjson.SplitObject(raw)
	if err != nil {
		return nil, err
	}
	o, snake := toCamelCase(o, "inline_data", "file_data")
	field := kindOf(o)
	if (field == fieldInline || field == fieldFile) && !isThought(o) {
		media, attachments, err := parseMedia(o, field, snake)
		if err != nil {
			return nil, err
		}
		return &compactordv1.ResultPart{Kind: &compactordv1.ResultPart_Media{Media: media}, Attachments: attachments}, nil
	}
	opaque, err := parseOpaque(raw, field)
	return &compactordv1.ResultPart{Kind: &compactordv1.ResultPart_Opaque{Opaque: opaque}}, err
}
