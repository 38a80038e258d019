package openaichat

import (
	"encoding/json"
	"errors"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var errEmptyName = errors.New("is empty")

// fields is an object that is being parsed. It marks the fields that the neutral message has. All other fields are kept
// in attachments.
type fields struct {
	rawjson.Object
	neutral     []string
	attachments []*compactordv1.Attachment
}

// readFields reads an object that is valid JSON.
func readFields(raw json.RawMessage) (*fields, error) {
	o, err := rawjson.SplitObject(raw)
	return &fields{Object: o}, err
}

// markNeutral marks fields that the neutral message has unchanged.
func (f *fields) markNeutral(keys ...string) { f.neutral = append(f.neutral, keys...) }

// text returns a string of at most limit bytes. It marks the field as neutral unless the text is empty or decoding
// changes it.
func (f *fields) text(key string, limit int) (string, error) {
	text, err := f.BoundedText(key, limit)
	if err == nil && text != "" && rawjson.Keeps(f.Object[key]) {
		f.markNeutral(key)
	}
	return text, err
}

func (f *fields) note(name, value string) {
	f.attachments = append(f.attachments, dialect.Note(kind, name, value))
}

// lacks notes that a field of the canonical form is missing.
func (f *fields) lacks(key string) {
	f.attachments = append(f.attachments, &compactordv1.Attachment{Dialect: kind, Key: key})
}

// keepWithin keeps the fields of an inner object that are not marked as neutral.
func (f *fields) keepWithin(key string, inner *fields) error {
	rest := make(rawjson.Object)
	for name, value := range inner.Object {
		rest[name] = value
	}
	for _, name := range inner.neutral {
		delete(rest, name)
	}
	f.markNeutral(key)
	f.attachments = append(f.attachments, inner.attachments...)
	if len(rest) == 0 {
		return nil
	}
	raw := rest.Encode()
	if len(raw) > dialect.MaxText {
		return rawjson.In(key, rawjson.TooLarge(len(raw), dialect.MaxText))
	}
	f.attachments = append(f.attachments, &compactordv1.Attachment{
		Dialect: kind, Key: dialect.NotePrefix + key, Json: string(raw),
	})
	return nil
}

// rest returns the attachments for everything that the neutral message does not have.
func (f *fields) rest() ([]*compactordv1.Attachment, error) {
	residue, err := dialect.Residue(kind, f.Object, nil, f.neutral...)
	if err != nil {
		return nil, err
	}
	all := append(f.attachments, residue...)
	return all, dialect.BoundAttachments(all)
}

// name reads a tool's name, which is required.
func (f *fields) name() (string, error) {
	if _, err := f.DemandText("name"); err != nil {
		return "", err
	}
	name, err := f.text("name", dialect.MaxName)
	if err == nil && name == "" {
		err = rawjson.In("name", errEmptyName)
	}
	return name, err
}

// The notes on the form. The package comment says what each means.
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

// fieldOf returns the field of the message that a part came from. Empty where no note says it.
func fieldOf(p *compactordv1.Part) string {
	field, _ := dialect.Noted(p.GetAttachments(), kind, noteField)
	return field
}

// hasOwn reports whether there are attachments of this dialect.
func hasOwn(attachments []*compactordv1.Attachment) bool {
	for _, a := range attachments {
		if a.GetDialect() == kind {
			return true
		}
	}
	return false
}

// matchesText guards a text field. Where the text is empty, any empty value matches.
func matchesText(text string) func(json.RawMessage) bool {
	if text == "" {
		return isEmptyValue
	}
	return dialect.MatchesText(text)
}

// restoreWithin restores the kept fields of an inner object.
func restoreWithin(inner rawjson.Object, attachments []*compactordv1.Attachment, key string, guarded dialect.Guards) {
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

// isEmptyValue reports whether a value is missing, null, or an empty string or array.
func isEmptyValue(raw json.RawMessage) bool {
	switch rawjson.KindOf(raw) {
	case rawjson.Missing, rawjson.Null:
		return true
	case rawjson.String:
		return string(raw) == `""`
	case rawjson.Array:
		list, err := rawjson.ParseArray(raw)
		return err == nil && len(list) == 0
	default:
		return false
	}
}
