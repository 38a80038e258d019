package openaichat

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// The reasons for which parts are dropped.
const (
	emptyText     = "The text is empty, and the provider takes none such."
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

// resultParts are the parts of a result as parts of a message; all stand at the position of the result.
func resultParts(r *compactordv1.ToolResult) []numberedPart {
	list := make([]numberedPart, len(r.GetParts()))
	for i, rp := range r.GetParts() {
		p := &compactordv1.Part{Attachments: rp.GetAttachments()}
		switch k := rp.GetKind().(type) {
		case *compactordv1.ResultPart_Media:
			p.Kind = &compactordv1.Part_Media{Media: k.Media}
		case *compactordv1.ResultPart_Opaque:
			p.Kind = &compactordv1.Part_Opaque{Opaque: k.Opaque}
		default:
			p.Kind = &compactordv1.Part_Text{Text: rp.GetText()}
		}
		list[i] = numberedPart{0, p}
	}
	return list
}

// block is a part of the content: a text that can stand as a string, an object, or an item as it was.
type block struct {
	text   string
	object rawjson.Object
	raw    json.RawMessage
}

func (b block) encode() json.RawMessage {
	switch {
	case b.raw != nil:
		return b.raw
	case b.object != nil:
		return b.object.Encode()
	default:
		return textObject(b.text).Encode()
	}
}

func textObject(text string) rawjson.Object {
	return rawjson.Object{"type": rawjson.Quote("text"), "text": rawjson.Quote(text)}
}

// isString says whether a block that stands alone is the content as a string.
func (w *writer) isString(b block) bool {
	return b.raw == nil && b.object == nil && !isNoted(w.m.GetAttachments(), noteContent, "array")
}

func (w *writer) joined(blocks []block) json.RawMessage {
	if len(blocks) == 0 {
		return emptyContent(w.m.GetRole())
	}
	if len(blocks) == 1 && w.isString(blocks[0]) {
		return rawjson.Quote(blocks[0].text)
	}
	list := make([]json.RawMessage, len(blocks))
	for i, b := range blocks {
		list[i] = b.encode()
	}
	return rawjson.EncodeArray(list)
}

func (w *writer) blocks(parts []numberedPart) []block {
	blocks := make([]block, 0, len(parts))
	for _, n := range parts {
		if b, ok := w.block(n); ok {
			blocks = append(blocks, b)
		}
	}
	return blocks
}

func (w *writer) block(n numberedPart) (block, bool) {
	switch k := n.part.GetKind().(type) {
	case *compactordv1.Part_Text:
		if w.request && k.Text.GetText() == "" {
			w.drop(n.at, emptyText)
			return block{}, false
		}
		return w.textBlock(n.part), true
	case *compactordv1.Part_Media:
		if o := w.media(n.part); o != nil {
			return block{object: o}, true
		}
		w.drop(n.at, mediaAsText)
		return block{text: session.MediaLine(k.Media)}, true
	case *compactordv1.Part_Opaque:
		return w.opaque(n.at, k.Opaque)
	default:
		return block{}, false
	}
}

func (w *writer) opaque(at int, item *compactordv1.OpaquePart) (block, bool) {
	raw := json.RawMessage(item.GetJson())
	o, err := rawjson.ParseObject(raw)
	switch {
	case item.GetDialect() != kind || err != nil:
		w.drop(at, foreignOpaque)
		return block{}, false
	case !w.request:
		return block{raw: raw}, true
	case w.m.GetRole() == compactordv1.Role_ROLE_TOOL:
		w.drop(at, opaqueAsText)
		return block{text: item.GetJson()}, true
	case !isUnknownType(o):
		w.drop(at, "The item is none that this dialect keeps as it is.")
		return block{}, false
	default:
		return block{raw: raw}, true
	}
}

// isUnknownType says whether a content part is of a type that this dialect does not read: what it reads is never opaque,
// so that no rule can be passed by.
func isUnknownType(o rawjson.Object) bool {
	partType, err := o.DemandText("type")
	if err != nil {
		return false
	}
	switch partType {
	case "text", "refusal", "image_url", "input_audio", "file":
		return false
	default:
		return true
	}
}

func (w *writer) textBlock(p *compactordv1.Part) block {
	text, field := p.GetText().GetText(), "text"
	if p.GetText().GetRefusal() && w.m.GetRole() == compactordv1.Role_ROLE_ASSISTANT {
		field = "refusal"
	} else if !hasOwn(p.GetAttachments()) {
		return block{text: text}
	}
	o := rawjson.Object{"type": rawjson.Quote(field), field: rawjson.Quote(text)}
	w.restorePart(o, p, guards{"type": never, field: saysText(text)})
	return block{text: text, object: o}
}

// restorePart lays over a content part or a call what was kept of it.
func (w *writer) restorePart(o rawjson.Object, p *compactordv1.Part, guarded guards) {
	if w.request {
		for key := range guarded {
			guarded[key] = never
		}
	}
	dialect.Restore(o, p.GetAttachments(), kind, guarded)
}
