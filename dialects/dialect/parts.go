package dialect

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// AsPart returns a part of a result as a part of a message, for providers that write both alike.
func AsPart(rp *compactordv1.ResultPart) *compactordv1.Part {
	p := &compactordv1.Part{Attachments: rp.GetAttachments()}
	switch k := rp.GetKind().(type) {
	case *compactordv1.ResultPart_Media:
		p.Kind = &compactordv1.Part_Media{Media: k.Media}
	case *compactordv1.ResultPart_Opaque:
		p.Kind = &compactordv1.Part_Opaque{Opaque: k.Opaque}
	default:
		p.Kind = &compactordv1.Part_Text{Text: rp.GetText()}
	}
	return p
}

// AsResultPart returns a text, medium or opaque part of a message as a part of a result.
func AsResultPart(p *compactordv1.Part) *compactordv1.ResultPart {
	rp := &compactordv1.ResultPart{Attachments: p.GetAttachments()}
	switch k := p.GetKind().(type) {
	case *compactordv1.Part_Media:
		rp.Kind = &compactordv1.ResultPart_Media{Media: k.Media}
	case *compactordv1.Part_Opaque:
		rp.Kind = &compactordv1.ResultPart_Opaque{Opaque: k.Opaque}
	default:
		rp.Kind = &compactordv1.ResultPart_Text{Text: p.GetText()}
	}
	return rp
}

// OpaqueOf keeps an element of the provider's JSON that has no neutral meaning, unchanged. It returns an
// OtherDialectError for a call, a result or a text of another dialect.
func OpaqueOf(kind compactordv1.Dialect, typ string, raw json.RawMessage) (*compactordv1.OpaquePart, error) {
	if len(typ) > MaxName {
		return nil, rawjson.In("type", rawjson.TooLarge(len(typ), MaxName))
	}
	if written, found := typesOfOne[typ]; found && written != kind {
		return nil, rawjson.In("type", &OtherDialectError{Given: kind, Written: written})
	}
	if len(raw) > MaxText {
		return nil, rawjson.TooLarge(len(raw), MaxText)
	}
	return &compactordv1.OpaquePart{Dialect: kind, Type: typ, Json: string(raw)}, nil
}

// IsOwn reports whether an opaque part belongs to the dialect and is JSON, so that it can be written unchanged.
func IsOwn(kind compactordv1.Dialect, opaque *compactordv1.OpaquePart) bool {
	return opaque.GetDialect() == kind && rawjson.Valid([]byte(opaque.GetJson()))
}
