package openairesponses

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// writtenRenderer renders parts as they were parsed.
var writtenRenderer = &renderer{asWritten: true}

func canonicalText(t *compactordv1.TextPart, s side) rawjson.Object {
	if t.GetRefusal() && s == assistantSide {
		return rawjson.Object{"type": rawjson.Quote(typeRefusal), "refusal": rawjson.Quote(t.GetText())}
	}
	return rawjson.Object{"type": rawjson.Quote(s.textType()), "text": rawjson.Quote(t.GetText())}
}

func canonicalMedia(m *compactordv1.MediaPart, typ string, attachments []*compactordv1.Attachment) rawjson.Object {
	o := rawjson.Object{"type": rawjson.Quote(typ)}
	switch typ {
	case typeInputImage:
		putSource(o, m, "image_url", "image_url", func() string { return dialect.DataURL(m.GetMimeType(), m.GetData()) })
	case typeInputFile:
		putSource(o, m, "file_data", "file_url", func() string {
			if noted(attachments, noteData) == plainBase64 {
				return dialect.EncodeBase64(m.GetData())
			}
			return dialect.DataURL(m.GetMimeType(), m.GetData())
		})
		if m.GetName() != "" {
			o["filename"] = rawjson.Quote(m.GetName())
		}
	default:
		format := "wav"
		if m.GetMimeType() == audioFormats["mp3"] {
			format = "mp3"
		}
		o["input_audio"] = rawjson.Object{
			"data": rawjson.Quote(dialect.EncodeBase64(m.GetData())), "format": rawjson.Quote(format),
		}.Encode()
	}
	return o
}

func putSource(o rawjson.Object, m *compactordv1.MediaPart, dataKey, addressKey string, data func() string) {
	switch source := m.GetSource().(type) {
	case *compactordv1.MediaPart_Uri:
		o[addressKey] = rawjson.Quote(source.Uri)
	case *compactordv1.MediaPart_FileId:
		o["file_id"] = rawjson.Quote(source.FileId)
	default:
		o[dataKey] = rawjson.Quote(data())
	}
}

func canonicalCall(k *callKind, call *compactordv1.ToolCall, attachments []*compactordv1.Attachment) rawjson.Object {
	o := rawjson.Object{"type": rawjson.Quote(k.call), k.id: rawjson.Quote(call.GetId())}
	if k.name == "" {
		o["name"] = rawjson.Quote(call.GetName())
	}
	field, arguments := inputField(k, attachments), call.GetArguments()
	switch {
	case k.isText:
		o[field] = rawjson.Quote(arguments)
	case arguments == "":
	case rawjson.Valid([]byte(arguments)):
		o[field] = json.RawMessage(arguments)
	default:
		o[field] = rawjson.Quote(arguments)
	}
	return o
}

func canonicalThinking(think *compactordv1.ThinkingPart, attachments []*compactordv1.Attachment) rawjson.Object {
	o := rawjson.Object{"type": rawjson.Quote(typeReasoning), "summary": rawjson.EncodeArray(nil)}
	source := reasoningTexts[0]
	if noted(attachments, noteText) == reasoningTexts[1].field {
		source = reasoningTexts[1]
	}
	texts := splitTexts(think.GetText(), noted(attachments, noteLengths))
	elements := make([]json.RawMessage, len(texts))
	for i, text := range texts {
		elements[i] = rawjson.Object{"type": rawjson.Quote(source.typ), "text": rawjson.Quote(text)}.Encode()
	}
	o[source.field] = rawjson.EncodeArray(elements)
	return o
}

// canonicalMessage returns a message item in its short form.
func canonicalMessage(role compactordv1.Role, pieces []piece, inList bool) rawjson.Object {
	return writtenRenderer.encodeMessage(role, pieces, inList)
}

func (r *renderer) canonicalResult(k *callKind, p *compactordv1.Part) rawjson.Object {
	result, form := p.GetToolResult(), &k.form
	id := result.GetCallId()
	if !r.asWritten {
		id, _ = r.ids.Of(p)
	}
	link := k.link
	if k.output == typeLocalShellOut && noted(p.GetAttachments(), noteLink) == "id" {
		link = "id"
	}
	o := rawjson.Object{"type": rawjson.Quote(k.output), link: rawjson.Quote(id)}
	pieces := k.pieces(result)
	if len(pieces) > 0 || !form.optional {
		o[form.field] = r.renderOutput(form, pieces, isInParts(p))
	}
	if form.flag != "" {
		o[form.flag] = json.RawMessage(form.done)
		if result.GetIsError() {
			o[form.flag] = json.RawMessage(form.failed)
		}
	}
	return o
}

func canonicalScreenshot(m *compactordv1.MediaPart) rawjson.Object {
	o := canonicalMedia(m, typeInputImage, nil)
	o["type"] = rawjson.Quote(typeScreenshot)
	return o
}

func canonicalChunk(out, errs string) rawjson.Object {
	return rawjson.Object{stdout: rawjson.Quote(out), stderr: rawjson.Quote(errs)}
}
