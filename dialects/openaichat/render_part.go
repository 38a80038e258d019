package openaichat

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/wording"
)

// The reasons why parts are dropped.
const (
	emptyText     = "The text is empty, which the provider does not accept."
	foreignOpaque = "The item belongs to another provider."
	opaqueAsText  = "The provider takes only text there; the item was put as text."
	mediaAsText   = "The provider cannot take the medium there; a line of text names it."
)

// numberedPart is a part with its position in the message that is rendered.
type numberedPart struct {
	at   int
	part *compactordv1.Part
}

func numbered(parts []*compactordv1.Part) []numberedPart {
	list := make([]numberedPart, len(parts))
	for i, p := range parts {
		list[i] = numberedPart{i, p}
	}
	return list
}

// renderedPart is a part of the content: a text that can be a string, an object, or unchanged JSON.
type renderedPart struct {
	text   string
	object rawjson.Object
	raw    json.RawMessage
}

func (r *renderer) encodePart(b renderedPart) json.RawMessage {
	switch {
	case b.raw != nil:
		return b.raw
	case b.object != nil:
		return r.by.Object(b.object)
	default:
		return r.by.Object(textObject(b.text))
	}
}

func textObject(text string) rawjson.Object {
	return rawjson.Object{"type": rawjson.Quote("text"), "text": rawjson.Quote(text)}
}

// isString reports whether a text that is the only part is written as a string.
func (r *renderer) isString(b renderedPart) bool {
	return b.raw == nil && b.object == nil && !isNoted(r.m.GetAttachments(), noteContent, "array")
}

// putContent puts the content into a message.
func (r *renderer) putContent(o rawjson.Object, blocks []renderedPart) {
	if r.request && len(blocks) == 1 && r.isString(blocks[0]) {
		r.text = &blocks[0].text
		return
	}
	o["content"] = r.encodeContent(blocks)
}

func (r *renderer) encodeContent(blocks []renderedPart) json.RawMessage {
	if len(blocks) == 0 {
		return emptyContent(r.m.GetRole())
	}
	if len(blocks) == 1 && r.isString(blocks[0]) {
		return rawjson.Quote(blocks[0].text)
	}
	list := make([]json.RawMessage, len(blocks))
	for i, b := range blocks {
		list[i] = r.encodePart(b)
	}
	return r.by.Array(list)
}

func (r *renderer) renderParts(parts []numberedPart) []renderedPart {
	blocks := make([]renderedPart, 0, len(parts))
	for _, n := range parts {
		if b, ok := r.renderPart(n); ok {
			blocks = append(blocks, b)
		}
	}
	return blocks
}

func (r *renderer) renderPart(n numberedPart) (renderedPart, bool) {
	switch k := n.part.GetKind().(type) {
	case *compactordv1.Part_Text:
		if r.request && k.Text.GetText() == "" {
			r.drop(n.at, emptyText)
			return renderedPart{}, false
		}
		return r.renderText(n.part), true
	case *compactordv1.Part_Media:
		if o := r.renderMedia(n.part); o != nil {
			return renderedPart{object: o}, true
		}
		r.drop(n.at, mediaAsText)
		return renderedPart{text: wording.MediaLine(k.Media)}, true
	case *compactordv1.Part_Opaque:
		return r.renderOpaque(n.at, k.Opaque)
	default:
		return renderedPart{}, false
	}
}

func (r *renderer) renderOpaque(at int, item *compactordv1.OpaquePart) (renderedPart, bool) {
	raw := json.RawMessage(item.GetJson())
	o, err := rawjson.ParseObject(raw)
	switch {
	case item.GetDialect() != kind || err != nil:
		r.drop(at, foreignOpaque)
		return renderedPart{}, false
	case !r.request:
		return renderedPart{raw: raw}, true
	case r.m.GetRole() == compactordv1.Role_ROLE_TOOL:
		r.drop(at, opaqueAsText)
		return renderedPart{text: item.GetJson()}, true
	case !isUnknownType(o):
		r.drop(at, "The item is none that this dialect keeps as it is.")
		return renderedPart{}, false
	default:
		return renderedPart{raw: raw}, true
	}
}

// isUnknownType reports whether this dialect does not parse content parts of this type. A part of a known type is never
// sent as an opaque part, since no rule would check it.
func isUnknownType(o rawjson.Object) bool {
	partType, err := o.DemandText("type")
	if err != nil {
		return false
	}
	switch partType {
	case "text", "refusal", typeImage, typeAudio, typeFile:
		return false
	default:
		return true
	}
}

func (r *renderer) renderText(p *compactordv1.Part) renderedPart {
	text, field := p.GetText().GetText(), "text"
	if p.GetText().GetRefusal() && r.m.GetRole() == compactordv1.Role_ROLE_ASSISTANT {
		field = "refusal"
	} else if !hasOwn(p.GetAttachments()) {
		return renderedPart{text: text}
	}
	o := rawjson.Object{"type": rawjson.Quote(field), field: rawjson.Quote(text)}
	r.restorePart(o, p, dialect.Guards{"type": dialect.Never, field: matchesText(text)})
	return renderedPart{text: text, object: o}
}

// restorePart restores the kept fields of a content part or a call.
func (r *renderer) restorePart(o rawjson.Object, p *compactordv1.Part, guarded dialect.Guards) {
	if r.request {
		for key := range guarded {
			guarded[key] = dialect.Never
		}
	}
	dialect.Restore(o, p.GetAttachments(), kind, guarded)
}
