package gemini

import (
	"slices"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/wording"
)

// renderOpaque returns an item of Gemini that a request can hold, otherwise nil. An item whose kind has a neutral part
// is not accepted as an opaque one.
func renderOpaque(opaque *compactordv1.OpaquePart) rawjson.Object {
	if opaque.GetDialect() != kind {
		return nil
	}
	o, err := rawjson.ParseObject([]byte(opaque.GetJson()))
	if err != nil || len(o.Others(sideFields...)) == 0 || hasTwoKinds(o) {
		return nil
	}
	for field, allowed := range requestGuards {
		if value, found := o[field]; found && !slices.Contains(otherFields, field) && !allowed(value) {
			return nil
		}
	}
	return o
}

// isOfContents reports whether an item is of a kind that only parts of contents have. Gemini does not accept these in
// function responses.
func isOfContents(o rawjson.Object) bool {
	return slices.ContainsFunc(otherFields, o.Has)
}

const (
	whyThought = "thoughts are not sent back to Gemini"
	whyOpaque  = "an item that Gemini does not take back was left out"
	whyMedia   = "Gemini does not accept this file; a line of text replaces it"
)

// renderPart renders a part that both roles can have. It returns false where nothing of it can be sent.
func (r *renderer) renderPart(at, i int, p *compactordv1.Part) (rawjson.Draft, bool) {
	switch k := p.GetKind().(type) {
	case *compactordv1.Part_Text:
		part := renderText(k.Text.GetText(), p.GetAttachments())
		if k.Text.GetText() == "" && !isSigned(part.Object()) {
			r.repair(ruleContentNotEmpty, at, "an empty text was left out")
			return rawjson.Draft{}, false
		}
		r.reportSignature(at, p, part.Object())
		return part, true
	case *compactordv1.Part_Media:
		if part := renderMedia(r.by, k.Media, p.GetAttachments()); part != nil {
			if name, known := mimeType(k.Media.GetMimeType()); known && name != k.Media.GetMimeType() {
				r.repair(ruleMimeTypes, at, "the MIME type was written as Gemini names it")
			}
			return rawjson.Whole(part), true
		}
		r.drop(at, i, whyMedia)
		return renderText(wording.MediaLine(k.Media), nil), true
	case *compactordv1.Part_Opaque:
		if part := renderOpaque(k.Opaque); part != nil {
			return rawjson.Whole(part), true
		}
		r.drop(at, i, whyOpaque)
	case *compactordv1.Part_Thinking:
		r.drop(at, i, whyThought)
	}
	return rawjson.Draft{}, false
}

func renderText(text string, attachments []*compactordv1.Attachment) rawjson.Draft {
	if len(attachments) == 0 {
		return rawjson.WithText(rawjson.Object{}, fieldText, text)
	}
	d := canonicalText(text)
	d.guards[fieldText] = dialect.MatchesText(text)
	if text == "" {
		d.guards[fieldText] = dialect.Never
	}
	return rawjson.Whole(d.restoreForRequest(nil, attachments))
}
