package transcript

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// event reads an event for Codex's user interface. Most events only repeat the items.
func (s *codexRollout) event(payload rawjson.Object) error {
	switch {
	case payload.IsText("type", "token_count"):
		return s.tokenCount(payload)
	case payload.IsText("type", "turn_aborted"):
		s.abort()
	case payload.IsText("type", "thread_rolled_back"):
		s.in.notes.add(codexRollback)
	default:
		s.in.notes.add(codexEvent)
	}
	return nil
}

// tokenCount reads the usage of the last response.
func (s *codexRollout) tokenCount(payload rawjson.Object) error {
	info, err := payload.Sub("info")
	if err != nil || info == nil {
		return err
	}
	last, err := info.Sub("last_token_usage")
	if err != nil || last == nil {
		return rawjson.In("info", err)
	}
	usage := &compactordv1.Usage{}
	err = counts(last,
		countField{"input_tokens", &usage.InputTokens},
		countField{"cached_input_tokens", &usage.CacheReadTokens},
		countField{"output_tokens", &usage.OutputTokens},
		countField{"total_tokens", &usage.TotalTokens},
	)
	if err == nil {
		err = subtractCached(usage)
	}
	if err != nil {
		return rawjson.In("info", rawjson.In("last_token_usage", err))
	}
	total := info["total_token_usage"]
	if total != nil && bytes.Equal(s.total, total) {
		return nil
	}
	s.total = bytes.Clone(total)
	s.tokens = usage.GetTotalTokens()
	if len(s.batch.items) > 0 && !s.batch.ended {
		s.batch.usage, s.batch.ended = usage, true
	}
	return nil
}

// codexSummary begins the message that Codex makes from a summary. The summary follows on the next lines.
const codexSummary = "Another language model started to solve this problem"

// compacted makes a record from a compaction. Of the messages before it, Codex keeps only some of the user's, and these
// are in the summary's message.
func (s *codexRollout) compacted(payload rawjson.Object) error {
	summary, err := payload.Text("message")
	if err != nil {
		return err
	}
	if summary == "" {
		if summary, err = replacementSummary(payload); err != nil {
			return err
		}
	}
	c := compaction{tool: string(Codex), firstKept: s.messages, tokensBefore: s.tokens, at: s.at}
	if c.summary = summary; strings.HasPrefix(summary, codexSummary) {
		_, c.summary, _ = strings.Cut(summary, "\n")
	}
	if e, ok := c.entry(s.in.notes); ok {
		s.entries = append(s.entries, e)
	}
	return nil
}

// replacementSummary finds the summary in the history that replaces the one before. It is the user's last message,
// unless it is encrypted.
func replacementSummary(payload rawjson.Object) (string, error) {
	items, err := payload.Elements("replacement_history")
	if err != nil || len(items) == 0 {
		return "", err
	}
	last := items[len(items)-1]
	item, err := rawjson.ParseObject(last)
	if err != nil {
		return "", rawjson.In("replacement_history", rawjson.InElement(len(items)-1, err))
	}
	if !item.IsText("role", "user") {
		return "", nil
	}
	texts, err := item.Elements("content")
	if err != nil {
		return "", rawjson.In("replacement_history", rawjson.InElement(len(items)-1, err))
	}
	return textOfContent(texts), nil
}

// textOfContent joins the texts of a content. Empty where it does not begin like a summary.
func textOfContent(pieces []json.RawMessage) string {
	var b strings.Builder
	for _, raw := range pieces {
		piece, err := rawjson.ParseObject(raw)
		if err != nil {
			return ""
		}
		text, err := piece.Text("text")
		if err != nil {
			return ""
		}
		b.WriteString(text)
	}
	if !strings.HasPrefix(b.String(), codexSummary) {
		return ""
	}
	return b.String()
}
