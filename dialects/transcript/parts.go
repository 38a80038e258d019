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

// resultParts turns text and media into the parts of a tool's answer.
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
