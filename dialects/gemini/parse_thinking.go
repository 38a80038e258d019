package gemini

import (
	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func isThought(o rawjson.Object) bool { return string(o["thought"]) == "true" }

// parseThinking parses a text that is marked as a thought.
func parseThinking(o rawjson.Object, snake []string) (*compactordv1.Part, error) {
	text, err := o.BoundedText(fieldText, dialect.MaxText)
	if err != nil {
		return nil, err
	}
	part := &compactordv1.Part{Kind: &compactordv1.Part_Thinking{Thinking: &compactordv1.ThinkingPart{Text: text}}}
	residue, err := canonicalThinking(text).residue(o, nil, snake)
	if err != nil {
		return nil, err
	}
	part.Attachments = residue
	return part, dialect.BoundAttachments(residue)
}
