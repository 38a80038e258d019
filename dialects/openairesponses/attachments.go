package openairesponses

import (
	"encoding/json"
	"slices"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

const kind = compactordv1.Dialect_DIALECT_OPENAI_RESPONSES

// The notes on the form. doc.go says what they mean.
const (
	noteInput        = "input"
	noteInstructions = "instructions"
	noteContent      = "content"
	noteContinued    = "continued"
	noteWithin       = "within"
	noteReasoning    = "reasoning"
	noteKind         = "kind"
	noteField        = "field"
	noteLink         = "link"
	noteStream       = "stream"
	noteData         = "data"
	noteText         = "text"
	noteLengths      = "lengths"

	// keyItem holds the fields of an assistant's message item, since a part has attachments of its own.
	keyItem = dialect.NotePrefix + "item"
	// inParts says that one text stood in a list of parts.
	inParts = "parts"
)

func note(name, value string) *compactordv1.Attachment { return dialect.Note(kind, name, value) }

func noted(attachments []*compactordv1.Attachment, name string) string {
	value, _ := dialect.Noted(attachments, kind, name)
	return value
}

// attached returns the value of a field, none where it is missing, null or no JSON.
func attached(attachments []*compactordv1.Attachment, key string) json.RawMessage {
	value, _ := dialect.Attached(attachments, kind, key)
	if k := rawjson.KindOf(value); k == rawjson.Missing || k == rawjson.Null || !json.Valid(value) {
		return nil
	}
	return value
}

// guards say of fields whether an attachment still says the same as the neutral message.
type guards map[string]func(json.RawMessage) bool

// sdkFields are what the helpers of the provider's SDK add to texts and calls that they parse. The provider takes them
// from nobody.
var sdkFields = []string{"parsed", "parsed_arguments"}

// restore lays attachments over what was rendered from the neutral fields. For a request they only add to it: what the
// neutral fields say is never overruled by how it was once written.
func (w *writer) restore(usual rawjson.Object, attachments []*compactordv1.Attachment, g guards) {
	if w.asWritten {
		dialect.Restore(usual, attachments, kind, g)
		return
	}
	added := make([]*compactordv1.Attachment, 0, len(attachments))
	for _, a := range attachments {
		if _, there := usual[a.GetKey()]; !there && a.GetJson() != "" && !slices.Contains(sdkFields, a.GetKey()) {
			added = append(added, a)
		}
	}
	dialect.Restore(usual, added, kind, g)
}

// isMessageType guards the type of a message, which can be left out but is never another.
func isMessageType(raw json.RawMessage) bool {
	return rawjson.Object{"type": raw}.IsText("type", typeMessage)
}

func never(json.RawMessage) bool { return false }
