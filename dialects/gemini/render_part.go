package gemini

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// What is not sent in a request, however it came into the attachments of a part.
var (
	requestGuards      = requestGuardsOf(slices.Concat(modelledFields, snakeKinds, otherFields))
	requestInnerGuards = map[string]guard{
		"id": never, "mimeType": never, "mime_type": never, "file_uri": never, "parts": isNothing,
	}
)

func requestGuardsOf(fields []string) map[string]guard {
	guards := map[string]guard{
		"thought":           func(raw json.RawMessage) bool { return string(raw) != "true" },
		"thoughtSignature":  isNothingOr(isSignature),
		"thought_signature": isNothingOr(isSignature),
	}
	for _, field := range fields {
		guards[field] = isNothing
	}
	return guards
}

// isNothing guards a field that may be there as long as it says nothing.
func isNothing(raw json.RawMessage) bool {
	return string(raw) == "null" || rawjson.Equal(raw, []byte("[]"))
}

func isNothingOr(says guard) guard {
	return func(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" || says(raw) }
}

// request holds a drawing to what Gemini takes.
func (d *drawing) request(attachments []*compactordv1.Attachment) rawjson.Object {
	if len(attachments) > 0 {
		outer, inner := maps.Clone(requestGuards), maps.Clone(requestInnerGuards)
		maps.Copy(outer, d.outerGuards)
		maps.Copy(inner, d.innerGuards)
		d.outerGuards, d.innerGuards = outer, inner
	}
	return d.finish(attachments)
}

func requestText(text string, attachments []*compactordv1.Attachment) rawjson.Object {
	d := drawText(text)
	d.outerGuards[fieldText] = dialect.SaysText(text)
	if text == "" {
		d.outerGuards[fieldText] = never
	}
	return d.request(attachments)
}

func requestCall(p *compactordv1.Part, id, name string) rawjson.Object {
	arguments := p.GetToolCall().GetArguments()
	d := drawCall(&compactordv1.ToolCall{Id: id, Name: name, Arguments: arguments})
	d.innerGuards["args"] = func(raw json.RawMessage) bool {
		return arguments == "" && (len(raw) == 0 || string(raw) == "null")
	}
	return d.request(p.GetAttachments())
}

// requestMedia draws a medium as Gemini takes it; nil where it does not.
func requestMedia(m *compactordv1.MediaPart, attachments []*compactordv1.Attachment) rawjson.Object {
	media := taken(m, attachments)
	if media == nil {
		return nil
	}
	d := drawMedia(media)
	if d.field == fieldInline {
		says := d.innerGuards["data"]
		d.innerGuards["data"] = func(raw json.RawMessage) bool { return says(raw) && isSignature(raw) }
	} else {
		d.innerGuards["fileUri"] = never
		d.innerGuards["mimeType"] = func(raw json.RawMessage) bool {
			return len(raw) == 0 && media.GetMimeType() == dialect.UnknownMime
		}
	}
	return d.request(attachments)
}

// requestResult draws the result of a call of this name. left tells of each part that has no place in it.
func requestResult(p *compactordv1.Part, id, name string, left func(why string)) rawjson.Object {
	r := p.GetToolResult()
	texts, parts := requestAnswer(r, left)
	form := noted(p.GetAttachments(), noteResponse)
	named := &compactordv1.ToolResult{CallId: id, Name: name, IsError: r.GetIsError()}
	d := drawResult(named, form, texts, parts)
	if rawjson.KindOf(d.inner["response"]) != rawjson.ObjectKind {
		d = drawResult(named, "", texts, parts)
	}
	says := d.innerGuards["response"]
	d.innerGuards["response"] = func(raw json.RawMessage) bool {
		return rawjson.KindOf(raw) == rawjson.ObjectKind && says(raw)
	}
	d.innerGuards["parts"] = func(raw json.RawMessage) bool { return len(parts) == 0 && isNothing(raw) }
	return d.request(p.GetAttachments())
}

// requestAnswer tells the texts of a result from the parts that go along with them.
func requestAnswer(r *compactordv1.ToolResult, left func(why string)) (texts []string, parts []json.RawMessage) {
	for _, rp := range r.GetParts() {
		switch {
		case rp.GetText() != nil:
			texts = append(texts, rp.GetText().GetText())
		case rp.GetMedia() != nil:
			if part := requestMedia(rp.GetMedia(), rp.GetAttachments()); part != nil {
				parts = append(parts, part.Encode())
				continue
			}
			texts = append(texts, session.MediaLine(rp.GetMedia()))
			left(whyMedia)
		default:
			if part := requestOpaque(rp.GetOpaque()); part != nil && !standsInContents(part) {
				parts = append(parts, json.RawMessage(rp.GetOpaque().GetJson()))
				continue
			}
			left(whyOpaque)
		}
	}
	return texts, parts
}

// requestOpaque returns an item of Gemini's own that can go back, nil where it cannot: what has a neutral kind of part
// must come by that.
func requestOpaque(opaque *compactordv1.OpaquePart) rawjson.Object {
	if opaque.GetDialect() != kind {
		return nil
	}
	o, err := rawjson.ParseObject([]byte(opaque.GetJson()))
	if err != nil || len(o.Others(sideFields...)) == 0 || saysTwo(o) {
		return nil
	}
	for field, allowed := range requestGuards {
		if value, found := o[field]; found && !slices.Contains(otherFields, field) && !allowed(value) {
			return nil
		}
	}
	return o
}

// standsInContents says whether an item is of a kind that Gemini has as a part of contents: in the result of a function it
// takes none of these.
func standsInContents(o rawjson.Object) bool {
	return slices.ContainsFunc(otherFields, o.Has)
}
