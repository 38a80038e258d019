package transcript

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var (
	errManyParts = fmt.Errorf("has too many parts; at most %d, or %d in a tool result, are possible", maxParts, maxResultParts)
	errFieldName = errors.New("a field that is not known has an empty or overlong name")
)

func textPart(text string) *compactordv1.Part {
	return &compactordv1.Part{Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: text}}}
}

func thinkingPart(text string) *compactordv1.Part {
	return &compactordv1.Part{Kind: &compactordv1.Part_Thinking{Thinking: &compactordv1.ThinkingPart{Text: text}}}
}

func mediaPart(m *compactordv1.MediaPart) *compactordv1.Part {
	return &compactordv1.Part{Kind: &compactordv1.Part_Media{Media: m}}
}

// contentParts parses `content`: a string, null, or a list whose elements are parsed by element. An empty string has no
// part. Where element returns nil, the element is left out.
func contentParts(
	o rawjson.Object, notes *noteCounter, element func(json.RawMessage) (*compactordv1.Part, error),
) ([]*compactordv1.Part, error) {
	raw := o["content"]
	switch rawjson.KindOf(raw) {
	case rawjson.Missing, rawjson.Null:
		return nil, nil
	case rawjson.String:
		text, err := o.BoundedText("content", maxText)
		if err != nil || text == "" {
			return nil, err
		}
		return []*compactordv1.Part{textPart(text)}, nil
	case rawjson.Array:
	default:
		return nil, rawjson.In("content", fmt.Errorf("must be a string or an array, is %s", rawjson.KindOf(raw)))
	}
	elements, err := rawjson.ParseArray(raw)
	if err != nil {
		return nil, rawjson.In("content", err)
	}
	if len(elements) > maxParts {
		return nil, rawjson.In("content", errManyParts)
	}
	parts := make([]*compactordv1.Part, 0, len(elements))
	for i, raw := range elements {
		part, err := element(raw)
		if err != nil {
			part, err = notes.part(raw, err)
		}
		if err != nil {
			return nil, rawjson.In("content", rawjson.InElement(i, err))
		}
		if part != nil {
			parts = append(parts, part)
		}
	}
	return parts, nil
}

// resultParts turns texts and media into the parts of a tool result.
func resultParts(parts []*compactordv1.Part) []*compactordv1.ResultPart {
	results := make([]*compactordv1.ResultPart, 0, len(parts))
	for _, p := range parts {
		r := &compactordv1.ResultPart{Attachments: p.GetAttachments()}
		if media := p.GetMedia(); media != nil {
			r.Kind = &compactordv1.ResultPart_Media{Media: media}
		} else {
			r.Kind = &compactordv1.ResultPart_Text{Text: p.GetText()}
		}
		results = append(results, r)
	}
	return results
}

func attachment(d compactordv1.Dialect, key string, raw json.RawMessage) (*compactordv1.Attachment, error) {
	if key == "" || len(key) > maxName {
		return nil, errFieldName
	}
	if len(raw) > maxText {
		return nil, rawjson.In(key, rawjson.TooLarge(len(raw), maxText))
	}
	return &compactordv1.Attachment{Dialect: d, Key: key, Json: string(raw)}, nil
}
