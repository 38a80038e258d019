package openairesponses

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// textSeparator separates the texts of a reasoning that are joined into one.
const textSeparator = "\n\n"

// reasoningTexts are the fields of a reasoning that hold texts. The text comes from the first that has one.
var reasoningTexts = []struct{ field, typ string }{{"summary", typeSummaryText}, {"content", typeReasoningText}}

func (p *parser) parseThinking(at int, o rawjson.Object) error {
	part := &compactordv1.Part{}
	think := &compactordv1.ThinkingPart{}
	part.Kind = &compactordv1.Part_Thinking{Thinking: think}
	for _, source := range reasoningTexts {
		elements, err := o.Elements(source.field)
		if err != nil {
			return err
		}
		texts, plain := plainTexts(elements, source.typ)
		if !plain || think.GetText() != "" {
			continue
		}
		think.Text = strings.Join(texts, textSeparator)
		if think.GetText() == "" {
			continue
		}
		if source.field != reasoningTexts[0].field {
			part.Attachments = append(part.Attachments, note(noteText, source.field))
		}
		if len(texts) > 1 {
			part.Attachments = append(part.Attachments, note(noteLengths, lengthsOf(texts)))
		}
	}
	if len(think.GetText()) > dialect.MaxText {
		return rawjson.TooLarge(len(think.GetText()), dialect.MaxText)
	}
	residue, err := dialect.Residue(kind, o, canonicalThinking(think, part.GetAttachments()))
	if err != nil {
		return err
	}
	part.Attachments = append(part.GetAttachments(), residue...)
	if err := dialect.BoundAttachments(part.GetAttachments()); err != nil {
		return err
	}
	p.reasonings++
	return p.addParts(at, part)
}

// plainTexts returns the texts of a list. It returns false where an element is no text of this type, or has more
// fields.
func plainTexts(elements []json.RawMessage, typ string) ([]string, bool) {
	texts := make([]string, len(elements))
	for i, element := range elements {
		o, err := rawjson.SplitObject(element)
		if err != nil || !o.IsText("type", typ) || rawjson.KindOf(o["text"]) != rawjson.String {
			return nil, false
		}
		if texts[i], err = o.Text("text"); err != nil {
			return nil, false
		}
	}
	return texts, true
}

func lengthsOf(texts []string) string {
	lengths := make([]string, len(texts))
	for i, text := range texts {
		lengths[i] = strconv.Itoa(len(text))
	}
	return strings.Join(lengths, ",")
}

// splitTexts splits a text that was joined from texts of these lengths.
func splitTexts(text, lengths string) []string {
	if text == "" {
		return nil
	}
	var texts []string
	rest := text
	for i, field := range strings.Split(lengths, ",") {
		n, err := strconv.Atoi(field)
		if i > 0 {
			var found bool
			if rest, found = strings.CutPrefix(rest, textSeparator); !found {
				return []string{text}
			}
		}
		if err != nil || n < 0 || n > len(rest) || !utf8.ValidString(rest[:n]) {
			return []string{text}
		}
		texts, rest = append(texts, rest[:n]), rest[n:]
	}
	if rest != "" {
		return []string{text}
	}
	return texts
}
