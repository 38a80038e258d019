package openaichat

import (
	"encoding/json"
	"strings"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// parseThinking reads the reasoning of a message, which is one part whatever the number of fields that hold it. Where
// all are empty they stay with the message: some servers demand the field even then.
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
		if saysNothing(p.Object[reasoningDetails]) {
			return nil, nil
		}
		field, text = reasoningDetails, detailsText(p.Object[reasoningDetails])
	}
	f := &fields{Object: make(rawjson.Object)}
	for _, key := range reasoningFields {
		if raw, there := p.Object[key]; there {
			f.Object[key] = raw
			p.say(key)
		}
	}
	if field != reasoningDetails && rawjson.Keeps(f.Object[field]) {
		f.say(field)
	}
	f.note(noteField, field)
	attachments, err := f.rest()
	return []*compactordv1.Part{{
		Kind:        &compactordv1.Part_Thinking{Thinking: &compactordv1.ThinkingPart{Text: text}},
		Attachments: attachments,
	}}, err
}

// detailsText is what can be read in reasoning_details: texts and summaries, not what is encrypted. What has another
// shape is kept, but not read.
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
