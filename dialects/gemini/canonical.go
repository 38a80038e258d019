package gemini

import (
	"encoding/json"
	"strings"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func drawText(text string) *drawing {
	return &drawing{
		outer:       rawjson.Object{fieldText: rawjson.Quote(text)},
		outerGuards: map[string]guard{fieldText: saysText(text)},
	}
}

func drawThought(text string) *drawing {
	d := drawText(text)
	d.outer["thought"] = []byte("true")
	return d
}

func drawCall(call *compactordv1.ToolCall) *drawing {
	arguments := call.GetArguments()
	object, _ := dialect.ArgumentsObject(arguments)
	inner := rawjson.Object{"name": rawjson.Quote(call.GetName()), "args": object}
	if call.GetId() != "" {
		inner["id"] = rawjson.Quote(call.GetId())
	}
	return &drawing{
		field: fieldCall, outer: rawjson.Object{}, inner: inner,
		innerGuards: map[string]guard{
			"args": func(raw json.RawMessage) bool {
				return string(raw) == arguments || arguments == "" && string(raw) == "null"
			},
			"name": saysText(call.GetName()),
		},
	}
}

// drawResult draws a result of these texts and files, in the form of response that is noted.
func drawResult(r *compactordv1.ToolResult, form string, texts []string, parts []json.RawMessage) *drawing {
	text := strings.Join(texts, "\n")
	inner := rawjson.Object{"response": drawResponse(text, form, r.GetIsError())}
	if r.GetName() != "" {
		inner["name"] = rawjson.Quote(r.GetName())
	}
	if r.GetCallId() != "" {
		inner["id"] = rawjson.Quote(r.GetCallId())
	}
	if len(parts) > 0 {
		inner["parts"] = rawjson.EncodeArray(parts)
	}
	return &drawing{
		field: fieldResponse, outer: rawjson.Object{}, inner: inner,
		innerGuards: map[string]guard{
			"name": saysText(r.GetName()),
			"response": func(raw json.RawMessage) bool {
				if k := rawjson.KindOf(raw); k == rawjson.Missing || k == rawjson.Null {
					return len(texts) == 0
				}
				return readResponse(raw) == said{text: text, form: form, failed: r.GetIsError()}
			},
		},
	}
}

func noted(attachments []*compactordv1.Attachment, name string) string {
	value, _ := dialect.Noted(attachments, kind, name)
	return value
}

// drawResponse writes what a tool said in the form that is noted, as far as it still fits: an edit may have put another
// text in the place of JSON.
func drawResponse(text, form string, failed bool) json.RawMessage {
	raw := json.RawMessage(text)
	switch {
	case form == asObject && rawjson.KindOf(raw) == rawjson.ObjectKind && json.Valid(raw), form == asValue && json.Valid(raw):
		return raw
	case form == asText:
		return rawjson.Quote(text)
	case form == keyResult && !failed:
		return rawjson.Object{keyResult: rawjson.Quote(text)}.Encode()
	case failed:
		return rawjson.Object{keyError: rawjson.Quote(text)}.Encode()
	default:
		return rawjson.Object{keyOutput: rawjson.Quote(text)}.Encode()
	}
}

// isOwn says whether an opaque part can be written as it is.
func isOwn(o *compactordv1.OpaquePart) bool {
	return o.GetDialect() == kind && json.Valid([]byte(o.GetJson()))
}

func drawMedia(m *compactordv1.MediaPart) *drawing {
	mime := rawjson.Quote(m.GetMimeType())
	if data, byValue := m.GetSource().(*compactordv1.MediaPart_Data); byValue {
		return &drawing{
			field: fieldInline, outer: rawjson.Object{},
			inner:       rawjson.Object{"mimeType": mime, "data": rawjson.Quote(dialect.EncodeBase64(data.Data))},
			innerGuards: map[string]guard{"data": dialect.SaysData(data.Data)},
		}
	}
	address := m.GetUri()
	if address == "" {
		address = m.GetFileId()
	}
	return &drawing{
		field: fieldFile, outer: rawjson.Object{},
		inner:       rawjson.Object{"mimeType": mime, "fileUri": rawjson.Quote(address)},
		innerGuards: map[string]guard{"fileUri": saysText(address)},
	}
}
