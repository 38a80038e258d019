package anthropic

import (
	"encoding/json"
	"strings"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// writtenGuards guard the fields that are made from what an edit can replace.
func writtenGuards(p *compactordv1.Part) dialect.Guards {
	switch k := p.GetKind().(type) {
	case *compactordv1.Part_Text:
		return dialect.Guards{"text": dialect.MatchesText(k.Text.GetText())}
	case *compactordv1.Part_Thinking:
		if k.Thinking.GetRedacted() {
			// No field of this block is made from the part's text. A text in the original is restored unchanged.
			return dialect.Guards{}
		}
		return dialect.Guards{"thinking": dialect.MatchesOptionalText(k.Thinking.GetText())}
	case *compactordv1.Part_ToolCall:
		return dialect.Guards{"input": only(k.ToolCall.GetArguments() == "")}
	case *compactordv1.Part_ToolResult:
		return dialect.Guards{
			"content": only(len(k.ToolResult.GetParts()) == 0),
			"is_error": func(raw json.RawMessage) bool {
				isFlag := rawjson.KindOf(raw) == rawjson.Bool || rawjson.KindOf(raw) == rawjson.Null
				return isFlag && k.ToolResult.GetIsError() == (string(raw) == "true")
			},
		}
	default:
		return dialect.Guards{}
	}
}

// requestGuards also reject the fields that the provider demands as rendering writes them.
func requestGuards(p *compactordv1.Part) dialect.Guards {
	g := writtenGuards(p)
	for _, key := range []string{"type", "id", "name", "input", "tool_use_id", "content", "source"} {
		g[key] = dialect.Never
	}
	for _, key := range []string{"text", "thinking"} {
		if matches := g[key]; matches != nil {
			g[key] = func(raw json.RawMessage) bool { return rawjson.KindOf(raw) == rawjson.String && matches(raw) }
		}
	}
	if p.GetThinking().GetRedacted() {
		g["thinking"] = dialect.Never
	}
	g[cacheKey] = func(raw json.RawMessage) bool {
		k := rawjson.KindOf(raw)
		return k == rawjson.ObjectKind || k == rawjson.Null
	}
	return g
}

func only(is bool) func(json.RawMessage) bool {
	return func(json.RawMessage) bool { return is }
}

// restoreSource restores the fields of a source from attachments. In a request, fields that rendering writes are not
// restored.
func restoreSource(source rawjson.Object, attachments []*compactordv1.Attachment, request bool) {
	g := dialect.Guards{}
	if request {
		for _, key := range []string{"type", "media_type", "data", "url", "file_id"} {
			g[key] = dialect.Never
		}
	}
	var within []*compactordv1.Attachment
	for _, a := range attachments {
		if key, is := strings.CutPrefix(a.GetKey(), dialect.NotePrefix+noteSource); is && key != "" {
			within = append(within, &compactordv1.Attachment{Dialect: a.GetDialect(), Key: key, Json: a.GetJson()})
		}
	}
	dialect.Restore(source, within, kind, g)
}

// isNoted reports whether a note has this value.
func isNoted(attachments []*compactordv1.Attachment, name, value string) bool {
	noted, found := dialect.Noted(attachments, kind, name)
	return found && noted == value
}

// The notes and their values.
const (
	noteForm   = "form"
	noteString = "string"

	notePlace    = "place"
	noteMessages = "messages"

	noteBegin   = "begin"
	noteMessage = "message"

	noteAt     = "at"
	noteBlocks = "blocks"
	noteSource = "source."
)

// restored returns the part's canonical block with the fields from the part's attachments.
func restored(o rawjson.Object, p *compactordv1.Part) rawjson.Object {
	if len(p.GetAttachments()) > 0 {
		dialect.Restore(o, p.GetAttachments(), kind, requestGuards(p))
	}
	return o
}
