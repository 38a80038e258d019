package dialect

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// NotePrefix begins the keys of a dialect's notes. These attachments describe the form of the original. All other
// attachments hold fields.
const NotePrefix = "$"

var (
	errKey     = errors.New("a field that is not known has an empty or overlong name, or one that begins with $")
	errTooMany = fmt.Errorf("%w: more than %d fields that are not known", rawjson.ErrTooLarge, MaxAttachments)
)

// Residue compares an object with its canonical form, which is what the neutral fields alone are rendered as. It
// returns the differences as attachments: the fields that are unknown or have another value and, with an empty value,
// the canonical fields that the object lacks. It ignores the fields in except.
func Residue(
	kind compactordv1.Dialect, original, canonical rawjson.Object, except ...string,
) ([]*compactordv1.Attachment, error) {
	var residue []*compactordv1.Attachment
	for _, key := range keysOf(original, canonical) {
		if slices.Contains(except, key) {
			continue
		}
		value, there := original[key]
		if there && rawjson.Equal(value, canonical[key]) {
			continue
		}
		if key == "" || len(key) > MaxName || strings.HasPrefix(key, NotePrefix) {
			return nil, errKey
		}
		if len(value) > MaxText {
			return nil, rawjson.In(key, rawjson.TooLarge(len(value), MaxText))
		}
		residue = append(residue, &compactordv1.Attachment{Dialect: kind, Key: key, Json: string(value)})
	}
	return residue, BoundAttachments(residue)
}

func keysOf(objects ...rawjson.Object) []string {
	var keys []string
	for _, o := range objects {
		for key := range o {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// Note returns an attachment with a note on the form of the original.
func Note(kind compactordv1.Dialect, name, value string) *compactordv1.Attachment {
	return &compactordv1.Attachment{Dialect: kind, Key: NotePrefix + name, Json: string(rawjson.Quote(value))}
}

// Noted returns the value of a note, and whether there is one.
func Noted(attachments []*compactordv1.Attachment, kind compactordv1.Dialect, name string) (string, bool) {
	raw, found := Attached(attachments, kind, NotePrefix+name)
	var value string
	if !found || json.Unmarshal(raw, &value) != nil {
		return "", false
	}
	return value, true
}

// Attached returns the value of an attachment, and whether there is one.
func Attached(attachments []*compactordv1.Attachment, kind compactordv1.Dialect, key string) (json.RawMessage, bool) {
	for _, a := range attachments {
		if a.GetDialect() == kind && a.GetKey() == key {
			return json.RawMessage(a.GetJson()), true
		}
	}
	return nil, false
}

// BoundAttachments returns an error where a part or a message has more attachments than a log accepts.
func BoundAttachments(attachments []*compactordv1.Attachment) error {
	if len(attachments) > MaxAttachments {
		return errTooMany
	}
	return nil
}

// Guard reports whether the JSON of a field in an attachment still agrees with the neutral message.
type Guard = func(json.RawMessage) bool

// Guards are the guards of an object's fields, by field name.
type Guards map[string]Guard

// Restore puts the attachments of a dialect into an object that was rendered from the neutral fields. An edit can have
// replaced the content that a field was parsed into. Then the field's guard rejects the old value. Values that are no
// JSON are ignored.
func Restore(
	o rawjson.Object, attachments []*compactordv1.Attachment, kind compactordv1.Dialect, guards Guards,
) {
	for _, a := range attachments {
		key, value := a.GetKey(), json.RawMessage(a.GetJson())
		if a.GetDialect() != kind || strings.HasPrefix(key, NotePrefix) {
			continue
		}
		if guard := guards[key]; guard != nil && !guard(value) {
			continue
		}
		switch {
		case len(value) == 0:
			delete(o, key)
		case rawjson.Valid(value):
			o[key] = value
		}
	}
}

// MatchesText guards a field that holds a text. An attachment keeps such a field where decoding changed the text. It is
// restored as long as it decodes to the current text.
func MatchesText(text string) Guard {
	return func(raw json.RawMessage) bool {
		var s string
		return json.Unmarshal(raw, &s) == nil && s == text
	}
}

// MatchesOptionalText is MatchesText for a field that can be missing or null where the text is empty.
func MatchesOptionalText(text string) Guard {
	matches := MatchesText(text)
	return func(raw json.RawMessage) bool { return len(raw) == 0 && text == "" || matches(raw) }
}

// Never is the guard of a field that no attachment may replace.
func Never(json.RawMessage) bool { return false }
