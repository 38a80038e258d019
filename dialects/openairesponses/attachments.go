package openairesponses

import (
	"encoding/json"
	"slices"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

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

	// keyItem holds the fields of an assistant's message item. Other attachments of a part hold the part's own fields.
	keyItem = dialect.NotePrefix + "item"
	// inParts is the value for one text that was in a list of parts.
	inParts = "parts"
)

func note(name, value string) *compactordv1.Attachment { return dialect.Note(kind, name, value) }

func noted(attachments []*compactordv1.Attachment, name string) string {
	value, _ := dialect.Noted(attachments, kind, name)
	return value
}

// attached returns the value of an attachment. It returns nil where that is missing, null or no JSON.
func attached(attachments []*compactordv1.Attachment, key string) json.RawMessage {
	value, _ := dialect.Attached(attachments, kind, key)
	if k := rawjson.KindOf(value); k == rawjson.Missing || k == rawjson.Null || !rawjson.Valid(value) {
		return nil
	}
	return value
}

// sdkFields are added by the provider's SDK to texts and calls that it parses. The provider refuses them.
var sdkFields = []string{"parsed", "parsed_arguments"}

// restore puts attachments into an object that was rendered from the neutral fields. In a request they only add fields,
// and never replace the neutral ones.
func (r *renderer) restore(usual rawjson.Object, attachments []*compactordv1.Attachment, g dialect.Guards) {
	if r.asWritten {
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

// isMessageType guards the type of a message, which can be missing but has only one value.
func isMessageType(raw json.RawMessage) bool {
	return rawjson.Object{"type": raw}.IsText("type", typeMessage)
}

// matchesContent guards a content that differs from the canonical one: it is missing, decoding changed its text, or it
// has more than the texts that an instruction can hold.
func matchesContent(pieces []piece, s side) func(json.RawMessage) bool {
	return func(raw json.RawMessage) bool {
		if len(raw) > 0 && !rawjson.Valid(raw) {
			return false
		}
		old, err := parseContent(raw, s)
		if err != nil {
			return false
		}
		if s == instructionSide {
			old = textsOf(old)
		}
		if len(old) != len(pieces) {
			return false
		}
		for i := range old {
			if old[i].text == nil || pieces[i].text == nil || old[i].text.GetText() != pieces[i].text.GetText() {
				return false
			}
		}
		return true
	}
}

func guardsOfMessage(pieces []piece, s side) dialect.Guards {
	return dialect.Guards{"type": isMessageType, "role": dialect.Never, "content": matchesContent(pieces, s)}
}

// guardsOfCall reject the old fields of a call that was edited.
func guardsOfCall(k *callKind, call *compactordv1.ToolCall, attachments []*compactordv1.Attachment) dialect.Guards {
	return dialect.Guards{
		k.id:                       dialect.MatchesOptionalText(call.GetId()),
		"name":                     dialect.MatchesOptionalText(call.GetName()),
		inputField(k, attachments): dialect.MatchesOptionalText(call.GetArguments()),
	}
}

func isInParts(p *compactordv1.Part) bool { return noted(p.GetAttachments(), noteContent) == inParts }

func isWithin(p *compactordv1.Part) bool {
	_, within := dialect.Noted(p.GetAttachments(), kind, noteWithin)
	return within
}

// isInstructions reports whether a message was the instructions of a request.
func isInstructions(m *compactordv1.Message) bool {
	_, apart := dialect.Noted(m.GetAttachments(), kind, noteInstructions)
	return apart
}
