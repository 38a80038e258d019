package openaichat

import (
	"encoding/json"
	"strings"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// parseThinking parses the reasoning of a message. It is one part, even if several fields hold it. Where all fields are
// empty they stay with the message, since some servers demand the field even then.
func (p *messageParser) parseThinking() ([]*compactordv1.Part, error) {
	text, err := p.BoundedText(reasoningContent, dialect.MaxText)
	if err != nil {
		return nil, err
	}
	field := reasoningContent
	if text == "" && rawjson.KindOf(p.Object[reasoning]) == rawjson.String {
		field = reasoning
		if text, err = p.BoundedText(reasoning, dialect.MaxText); err != nil {
			return nil, err
		}
	}
	if text == "" {
		if isEmptyValue(p.Object[reasoningDetails]) {
			return nil, nil
		}
		field, text = reasoningDetails, detailsText(p.Object[reasoningDetails])
	}
	f := &fields{Object: make(rawjson.Object)}
	for _, key := range reasoningFields {
		if raw, there := p.Object[key]; there {
			f.Object[key] = raw
			p.markNeutral(key)
		}
	}
	if field != reasoningDetails && rawjson.Keeps(f.Object[field]) {
		f.markNeutral(field)
	}
	f.note(noteField, field)
	attachments, err := f.rest()
	return []*compactordv1.Part{{
		Kind:        &compactordv1.Part_Thinking{Thinking: &compactordv1.ThinkingPart{Text: text}},
		Attachments: attachments,
	}}, err
}

// detailsText returns the texts and summaries in reasoning_details. Encrypted items and other shapes have no text.
func detailsText(raw json.RawMessage) string {
	list, err := rawjson.ParseArray(raw)
	if err != nil {
		return ""
	}
	var texts []string
	size := 0
	for _, item := range list {
		o, err := rawjson.ParseObject(item)
		if err != nil {
			continue
		}
		for _, key := range []string{"text", "summary"} {
			if text, err := o.Text(key); err == nil && text != "" && size+len(text) < dialect.MaxText {
				texts = append(texts, text)
				size += len(text) + 1
			}
		}
	}
	return strings.Join(texts, "\n")
}
