package anthropic

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// canonicalBlock returns the block that the neutral part alone is written as. For a tool result it has no content, and
// for an opaque part it is empty.
func canonicalBlock(p *compactordv1.Part) rawjson.Object {
	switch k := p.GetKind().(type) {
	case *compactordv1.Part_Text:
		return canonicalText(k.Text.GetText())
	case *compactordv1.Part_Thinking:
		if k.Thinking.GetRedacted() {
			return rawjson.Object{"type": rawjson.Quote(typeRedactedThinking)}
		}
		return rawjson.Object{
			"type": rawjson.Quote(typeThinking), "thinking": rawjson.Quote(k.Thinking.GetText()),
		}
	case *compactordv1.Part_ToolCall:
		return rawjson.Object{
			"type": rawjson.Quote(typeToolUse), "id": rawjson.Quote(k.ToolCall.GetId()),
			"name": rawjson.Quote(k.ToolCall.GetName()), "input": canonicalInput(k.ToolCall.GetArguments()),
		}
	case *compactordv1.Part_ToolResult:
		o := rawjson.Object{
			"type": rawjson.Quote(typeToolResult), "tool_use_id": rawjson.Quote(k.ToolResult.GetCallId()),
		}
		if k.ToolResult.GetIsError() {
			o["is_error"] = json.RawMessage("true")
		}
		return o
	case *compactordv1.Part_Media:
		o := canonicalMedia(k.Media)
		o["source"] = canonicalSource(k.Media).Encode()
		return o
	default:
		return rawjson.Object{}
	}
}

func canonicalText(text string) rawjson.Object {
	return rawjson.Object{"type": rawjson.Quote(typeText), "text": rawjson.Quote(text)}
}

// canonicalInput returns arguments unchanged where they are JSON, even if they are no object.
func canonicalInput(arguments string) json.RawMessage {
	if raw := json.RawMessage(strings.Trim(arguments, " \t\r\n")); len(raw) > 0 && rawjson.Valid(raw) {
		return raw
	}
	object, _ := dialect.ArgumentsObject(arguments)
	return object
}

// canonicalMedia returns the block without its source.
func canonicalMedia(m *compactordv1.MediaPart) rawjson.Object {
	o := rawjson.Object{"type": rawjson.Quote(typeDocument)}
	if strings.HasPrefix(m.GetMimeType(), "image/") {
		o["type"] = rawjson.Quote(typeImage)
	} else if m.GetName() != "" {
		o["title"] = rawjson.Quote(m.GetName())
	}
	return o
}

func canonicalSource(m *compactordv1.MediaPart) rawjson.Object {
	switch source := m.GetSource().(type) {
	case *compactordv1.MediaPart_Uri:
		return rawjson.Object{"type": rawjson.Quote(sourceURL), "url": rawjson.Quote(source.Uri)}
	case *compactordv1.MediaPart_FileId:
		return rawjson.Object{"type": rawjson.Quote(sourceFile), "file_id": rawjson.Quote(source.FileId)}
	default:
		o := rawjson.Object{"media_type": rawjson.Quote(m.GetMimeType())}
		if m.GetMimeType() == mimePlain && utf8.Valid(m.GetData()) {
			o["type"], o["data"] = rawjson.Quote(sourceText), rawjson.Quote(string(m.GetData()))
		} else {
			o["type"], o["data"] = rawjson.Quote(sourceBase64), rawjson.Quote(dialect.EncodeBase64(m.GetData()))
		}
		return o
	}
}
