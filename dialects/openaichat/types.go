package openaichat

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// The notes on the form; the package's comment says what each means.
const (
	noteContent   = "content"
	noteField     = "field"
	noteRole      = "role"
	noteType      = "type"
	noteArguments = "arguments"
	noteFileData  = "file_data"
	noteImage     = "image"
)

func isNoted(attachments []*compactordv1.Attachment, note, value string) bool {
	noted, found := dialect.Noted(attachments, kind, note)
	return found && noted == value
}

// fieldOf is the field of the message that a part stands in, where it is not the one that is usual for its kind.
func fieldOf(p *compactordv1.Part) string {
	field, _ := dialect.Noted(p.GetAttachments(), kind, noteField)
	return field
}

// hasOwn says whether there are attachments of this dialect.
func hasOwn(attachments []*compactordv1.Attachment) bool {
	for _, a := range attachments {
		if a.GetDialect() == kind {
			return true
		}
	}
	return false
}

// guards says, for fields that are made of the neutral message, which attachments may stand in for what it says.
type guards map[string]func(json.RawMessage) bool

func never(json.RawMessage) bool { return false }

// saysText guards a field of text: a text by what it says, no text by a value that says nothing.
func saysText(text string) func(json.RawMessage) bool {
	if text == "" {
		return saysNothing
	}
	return dialect.SaysText(text)
}

// layWithin lays over an inner object what was kept of it.
func layWithin(inner rawjson.Object, attachments []*compactordv1.Attachment, key string, guarded guards) {
	raw, found := dialect.Attached(attachments, kind, dialect.NotePrefix+key)
	if !found {
		return
	}
	rest, err := rawjson.ParseObject(raw)
	if err != nil {
		return
	}
	for name, value := range rest {
		if guard := guarded[name]; guard == nil || guard(value) {
			inner[name] = value
		}
	}
}
