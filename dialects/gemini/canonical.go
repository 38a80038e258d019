package gemini

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// canonicalPart is what the neutral part alone is written as: the fields of the part, and those of its inner object,
// such as a functionCall.
type canonicalPart struct {
	// field is the name of the inner object. Empty where the part has none.
	field               string
	fields, inner       rawjson.Object
	guards, innerGuards dialect.Guards
}

// residue returns the differences between an original part and its canonical form as attachments.
func (d *canonicalPart) residue(outer, inner rawjson.Object, snake []string) ([]*compactordv1.Attachment, error) {
	var within []string
	if d.field != "" {
		within = []string{d.field}
	}
	kept, err := dialect.Residue(kind, outer, d.fields, within...)
	if err != nil {
		return nil, err
	}
	prefix := d.field + "."
	for _, a := range kept {
		if d.field != "" && strings.HasPrefix(a.GetKey(), prefix) {
			return nil, errKey
		}
	}
	if d.field != "" {
		kept, err = d.innerResidue(kept, inner)
		if err != nil {
			return nil, rawjson.In(d.field, err)
		}
	}
	if len(snake) > 0 {
		kept = append(kept, dialect.Note(kind, noteSnake, strings.Join(snake, " ")))
	}
	return kept, nil
}

func (d *canonicalPart) innerResidue(kept []*compactordv1.Attachment, inner rawjson.Object) ([]*compactordv1.Attachment, error) {
	residue, err := dialect.Residue(kind, inner, d.inner)
	if err != nil {
		return nil, err
	}
	for _, a := range residue {
		a.Key = d.field + "." + a.GetKey()
		if len(a.GetKey()) > dialect.MaxName {
			return nil, errKey
		}
	}
	return append(kept, residue...), nil
}

// restore puts the attachments into the canonical form and returns the part.
func (d *canonicalPart) restore(by *dialect.Writer, attachments []*compactordv1.Attachment) rawjson.Object {
	outer, inner := d.splitAttachments(attachments)
	snake := strings.Fields(noted(attachments, noteSnake))
	dialect.Restore(d.fields, outer, kind, d.guards)
	if d.field != "" {
		dialect.Restore(d.inner, inner, kind, d.innerGuards)
		toSnakeCase(d.inner, snake)
		d.fields[d.field] = by.Object(d.inner)
	}
	toSnakeCase(d.fields, snake)
	return d.fields
}

// restoreForRequest is restore without the fields that Gemini would refuse.
func (d *canonicalPart) restoreForRequest(by *dialect.Writer, attachments []*compactordv1.Attachment) rawjson.Object {
	if len(attachments) > 0 {
		outer, inner := maps.Clone(requestGuards), maps.Clone(requestInnerGuards)
		maps.Copy(outer, d.guards)
		maps.Copy(inner, d.innerGuards)
		d.guards, d.innerGuards = outer, inner
	}
	return d.restore(by, attachments)
}

// splitAttachments separates the attachments of the part from those of its inner object.
func (d *canonicalPart) splitAttachments(attachments []*compactordv1.Attachment) (outer, inner []*compactordv1.Attachment) {
	if d.field == "" {
		return attachments, nil
	}
	for _, a := range attachments {
		if key, within := strings.CutPrefix(a.GetKey(), d.field+"."); within {
			inner = append(inner, &compactordv1.Attachment{Dialect: a.GetDialect(), Key: key, Json: a.GetJson()})
		} else {
			outer = append(outer, a)
		}
	}
	return outer, inner
}

func canonicalText(text string) *canonicalPart {
	return &canonicalPart{
		fields: rawjson.Object{fieldText: rawjson.Quote(text)},
		guards: dialect.Guards{fieldText: dialect.MatchesOptionalText(text)},
	}
}

func canonicalThinking(text string) *canonicalPart {
	d := canonicalText(text)
	d.fields["thought"] = []byte("true")
	return d
}

func canonicalCall(call *compactordv1.ToolCall) *canonicalPart {
	arguments := call.GetArguments()
	object, _ := dialect.ArgumentsObject(arguments)
	inner := rawjson.Object{"name": rawjson.Quote(call.GetName()), "args": object}
	if call.GetId() != "" {
		inner["id"] = rawjson.Quote(call.GetId())
	}
	return &canonicalPart{
		field: fieldCall, fields: rawjson.Object{}, inner: inner,
		innerGuards: dialect.Guards{
			"args": func(raw json.RawMessage) bool {
				return string(raw) == arguments || arguments == "" && string(raw) == "null"
			},
			"name": dialect.MatchesOptionalText(call.GetName()),
		},
	}
}

// canonicalResult returns a result with these texts and files. form is the noted form of the response.
func canonicalResult(r *compactordv1.ToolResult, form string, texts []string, parts []json.RawMessage) *canonicalPart {
	text := strings.Join(texts, "\n")
	inner := resultFields(r, parts)
	inner["response"] = canonicalOutput(text, form, r.GetIsError())
	return &canonicalPart{
		field: fieldResponse, fields: rawjson.Object{}, inner: inner,
		innerGuards: dialect.Guards{
			"name": dialect.MatchesOptionalText(r.GetName()),
			"response": func(raw json.RawMessage) bool {
				if k := rawjson.KindOf(raw); k == rawjson.Missing || k == rawjson.Null {
					return len(texts) == 0
				}
				return parseToolOutput(raw) == toolOutput{text: text, form: form, failed: r.GetIsError()}
			},
		},
	}
}

// resultFields returns the fields of a result's inner object beside its response.
func resultFields(r *compactordv1.ToolResult, parts []json.RawMessage) rawjson.Object {
	inner := rawjson.Object{}
	if r.GetName() != "" {
		inner["name"] = rawjson.Quote(r.GetName())
	}
	if r.GetCallId() != "" {
		inner["id"] = rawjson.Quote(r.GetCallId())
	}
	if len(parts) > 0 {
		inner["parts"] = rawjson.EncodeArray(parts)
	}
	return inner
}

func canonicalWrittenResult(r *compactordv1.ToolResult, form string) *canonicalPart {
	var texts []string
	var parts []json.RawMessage
	for _, rp := range r.GetParts() {
		switch {
		case rp.GetText() != nil:
			texts = append(texts, rp.GetText().GetText())
		case rp.GetMedia() != nil:
			parts = append(parts, canonicalMedia(rp.GetMedia()).restore(nil, rp.GetAttachments()).Encode())
		case dialect.IsOwn(kind, rp.GetOpaque()):
			parts = append(parts, json.RawMessage(rp.GetOpaque().GetJson()))
		}
	}
	return canonicalResult(r, form, texts, parts)
}

// canonicalOutput writes a tool's output in the noted form, if that still fits: an edit can have replaced JSON by text.
func canonicalOutput(text, form string, failed bool) json.RawMessage {
	raw := json.RawMessage(text)
	switch {
	case form == asObject && rawjson.KindOf(raw) == rawjson.ObjectKind && rawjson.Valid(raw), form == asValue && rawjson.Valid(raw):
		return raw
	case form == asText:
		return rawjson.Quote(text)
	case form == keyResult && !failed:
		return rawjson.Object{}.EncodeWithText(keyResult, text)
	default:
		return rawjson.Object{}.EncodeWithText(outputKey(failed), text)
	}
}

// outputKey is the field of a tool's output without a noted form.
func outputKey(failed bool) string {
	if failed {
		return keyError
	}
	return keyOutput
}

func canonicalMedia(m *compactordv1.MediaPart) *canonicalPart {
	mime := rawjson.Quote(m.GetMimeType())
	if data, byValue := m.GetSource().(*compactordv1.MediaPart_Data); byValue {
		return &canonicalPart{
			field: fieldInline, fields: rawjson.Object{},
			inner:       rawjson.Object{"mimeType": mime, "data": rawjson.Quote(dialect.EncodeBase64(data.Data))},
			innerGuards: dialect.Guards{"data": dialect.MatchesData(data.Data)},
		}
	}
	address := m.GetUri()
	if address == "" {
		address = m.GetFileId()
	}
	return &canonicalPart{
		field: fieldFile, fields: rawjson.Object{},
		inner:       rawjson.Object{"mimeType": mime, "fileUri": rawjson.Quote(address)},
		innerGuards: dialect.Guards{"fileUri": dialect.MatchesOptionalText(address)},
	}
}
