package transcript

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var errManyParts = fmt.Errorf("has too many parts; at most %d, or %d in a tool result, are possible", maxParts, maxResultParts)

// openAIContent parses `content`: a string, null, or a list of parts of the kinds that the role may hold. An empty string
// says nothing and gives no part.
func openAIContent(o rawjson.Object, allowed ...string) ([]*compactordv1.Part, error) {
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
		parts, err := openAIParts(raw, allowed)
		return parts, rawjson.In("content", err)
	default:
		return nil, rawjson.In("content", fmt.Errorf("must be a string or an array, is %s", rawjson.KindOf(raw)))
	}
}

func openAIParts(raw json.RawMessage, allowed []string) ([]*compactordv1.Part, error) {
	raws, err := rawjson.ParseArray(raw)
	if err != nil {
		return nil, err
	}
	if len(raws) > maxParts {
		return nil, errManyParts
	}
	parts := make([]*compactordv1.Part, 0, len(raws))
	for i, raw := range raws {
		part, err := openAIPart(raw, allowed)
		if err != nil {
			return nil, rawjson.InElement(i, err)
		}
		parts = append(parts, part)
	}
	return parts, nil
}

func openAIPart(raw json.RawMessage, allowed []string) (*compactordv1.Part, error) {
	o, err := rawjson.ParseObject(raw)
	if err != nil {
		return nil, err
	}
	kind, err := o.DemandText("type")
	if err != nil {
		return nil, err
	}
	// The kind itself is not quoted: it is whatever stands there.
	if !slices.Contains(allowed, kind) {
		return nil, rawjson.In("type", errors.New("unknown kind of part, or one that this role may not hold; possible are "+strings.Join(allowed, ", ")))
	}
	var part *compactordv1.Part
	switch kind {
	case "text", "refusal":
		var text string
		if text, err = o.DemandText(kind); err == nil && len(text) > maxText {
			err = rawjson.In(kind, rawjson.TooLarge(len(text), maxText))
		}
		part = textPart(text)
	default:
		part, err = openAIMedia(o, kind)
	}
	if err != nil {
		return nil, err
	}
	attachments, err := openAIAttachments(o, "type", kind)
	part.Attachments = append(part.Attachments, attachments...)
	return part, err
}

// openAIAttachments keeps the fields that are not known, byte for byte.
func openAIAttachments(o rawjson.Object, known ...string) ([]*compactordv1.Attachment, error) {
	keys := o.Others(known...)
	if len(keys) > maxAttachments {
		return nil, fmt.Errorf("has %d fields that are not known, at most %d are possible", len(keys), maxAttachments)
	}
	attachments := make([]*compactordv1.Attachment, 0, len(keys))
	for _, key := range keys {
		a, err := attachment(compactordv1.Dialect_DIALECT_OPENAI_CHAT, key, o[key])
		if err != nil {
			return nil, err
		}
		attachments = append(attachments, a)
	}
	return attachments, nil
}
