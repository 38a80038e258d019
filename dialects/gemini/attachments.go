package gemini

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

const noteSnake = "snake"

// The notes on messages, and their values.
const (
	noteParts   = "parts"
	noteSystem  = "system"
	noteContent = "content"
	noteAt      = "at"

	onePart     = "object"
	plainText   = "text"
	newContent  = "new"
	sameContent = "same"
)

const noteUnsigned = "unsigned"

const noteResponse = "response"

func noted(attachments []*compactordv1.Attachment, name string) string {
	value, _ := dialect.Noted(attachments, kind, name)
	return value
}

func hasAttachment(attachments []*compactordv1.Attachment, key string) bool {
	return slices.ContainsFunc(attachments, func(a *compactordv1.Attachment) bool {
		return a.GetDialect() == kind && a.GetKey() == key
	})
}

// leftOut returns an attachment that says that a canonical field was missing.
func leftOut(key string) *compactordv1.Attachment {
	return &compactordv1.Attachment{Dialect: kind, Key: key}
}

// isLeftOut reports whether a canonical field was missing.
func isLeftOut(attachments []*compactordv1.Attachment, key string) bool {
	return slices.ContainsFunc(attachments, func(a *compactordv1.Attachment) bool {
		return a.GetDialect() == kind && a.GetKey() == key && a.GetJson() == ""
	})
}

// The guards of the attachments of a part that a request must not contain.
var (
	requestGuards      = requestGuardsOf(slices.Concat(modelledFields, snakeKinds, otherFields))
	requestInnerGuards = dialect.Guards{
		"id": dialect.Never, "mimeType": dialect.Never, "mime_type": dialect.Never, "file_uri": dialect.Never, "parts": isNothing,
	}
)

func requestGuardsOf(fields []string) dialect.Guards {
	guards := dialect.Guards{
		"thought":           func(raw json.RawMessage) bool { return string(raw) != "true" },
		"thoughtSignature":  isNothingOr(isSignature),
		"thought_signature": isNothingOr(isSignature),
	}
	for _, field := range fields {
		guards[field] = isNothing
	}
	return guards
}

// isNothing guards a field that is accepted only while it has no content.
func isNothing(raw json.RawMessage) bool {
	return string(raw) == "null" || rawjson.Equal(raw, []byte("[]"))
}

func isNothingOr(says dialect.Guard) dialect.Guard {
	return func(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" || says(raw) }
}

// toCamelCase returns an object with the fields that this package knows in camel case, and the names of those that were
// in snake case.
func toCamelCase(o rawjson.Object, fields ...string) (spelled rawjson.Object, snake []string) {
	spelled = o
	for _, field := range fields {
		if has(o, field) && !has(o, snakeFields[field]) {
			if len(snake) == 0 {
				spelled = maps.Clone(o)
			}
			spelled[snakeFields[field]] = o[field]
			delete(spelled, field)
			snake = append(snake, field)
		}
	}
	return spelled, snake
}

// toSnakeCase changes fields back to snake case.
func toSnakeCase(o rawjson.Object, snake []string) {
	for _, field := range snake {
		value, found := o[snakeFields[field]]
		if known := snakeFields[field] != ""; known && found && !has(o, field) {
			o[field] = value
			delete(o, snakeFields[field])
		}
	}
}
