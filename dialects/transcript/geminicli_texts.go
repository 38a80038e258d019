package transcript

import (
	"encoding/json"
	"strings"

	"github.com/compactord/compactord/dialects/gemini"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var snapshotOfAbsent = noteText{
	one:  "1 state snapshot read as a message, since the file does not hold the messages that it replaced",
	many: "%d state snapshots read as messages, since the file does not hold the messages that they replaced",
}

// geminiTexts distinguishes Gemini CLI's own texts from those of the user.
type geminiTexts struct {
	notes *noteCounter
	// messages counts those so far. conversed reports that one of them is not part of Gemini CLI's own start.
	messages  uint32
	conversed bool
}

// attribute makes entries from messages. A state snapshot that replaced messages of the file becomes a record.
func (g *geminiTexts) attribute(messages []*compactordv1.Message) ([]entry, error) {
	entries := make([]entry, 0, len(messages))
	for _, m := range messages {
		m.Origin = compactordv1.Origin_ORIGIN_IMPORT
		text := ""
		if m.GetRole() == compactordv1.Role_ROLE_USER {
			text = onlyText(m)
		}
		snapshot := strings.HasPrefix(text, geminiSnapshotTag)
		switch {
		case snapshot && g.conversed:
			c := compaction{tool: string(GeminiCLI), summary: text, firstKept: g.messages, at: m.GetWrittenAt()}
			if e, ok := c.entry(g.notes); ok {
				entries = append(entries, e)
			}
			continue
		case snapshot:
			g.notes.add(snapshotOfAbsent)
			m.Origin = compactordv1.Origin_ORIGIN_CONTINUE
		case strings.HasPrefix(text, geminiContextTag), strings.HasPrefix(text, geminiContextText):
			m.Origin = compactordv1.Origin_ORIGIN_CONTINUE
		default:
			g.conversed = true
		}
		g.messages++
		entries = append(entries, entry{message: m})
	}
	return entries, nil
}

// onlyText returns the text of a message that has nothing else.
func onlyText(m *compactordv1.Message) string {
	var b strings.Builder
	for _, p := range m.GetParts() {
		if p.GetText() == nil {
			return ""
		}
		b.WriteString(p.GetText().GetText())
	}
	return b.String()
}

// parseContents parses contents of Gemini.
func parseContents(contents []json.RawMessage, notes *noteCounter) ([]*compactordv1.Message, []int, error) {
	parsed, err := gemini.New().Parse(rawjson.EncodeArray(contents))
	if err == nil {
		err = notes.strictly(parsed.Findings)
	}
	if err != nil {
		return nil, nil, fieldOf(err)
	}
	return parsed.Messages, parsed.Positions, nil
}
