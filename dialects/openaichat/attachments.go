package openaichat

import (
	"encoding/json"
	"errors"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var errEmptyName = errors.New("is empty")

// fields is an object that is being parsed. Fields that the neutral message says are marked as said; the others are
// kept in attachments.
type fields struct {
	rawjson.Object
	said        []string
	attachments []*compactordv1.Attachment
}

// readFields reads an object that is known to be valid JSON.
func readFields(raw json.RawMessage) (*fields, error) {
	o, err := rawjson.SplitObject(raw)
	return &fields{Object: o}, err
}

// say marks fields that the neutral message says word for word.
func (f *fields) say(keys ...string) { f.said = append(f.said, keys...) }

// text returns a string of at most limit bytes, and marks it as said unless it is empty or decoding changes it.
func (f *fields) text(key string, limit int) (string, error) {
	text, err := f.BoundedText(key, limit)
	if err == nil && text != "" && rawjson.Keeps(f.Object[key]) {
		f.say(key)
	}
	return text, err
}

func (f *fields) note(name, value string) {
	f.attachments = append(f.attachments, dialect.Note(kind, name, value))
}

// lacks keeps that a field of the canonical form is missing.
func (f *fields) lacks(key string) {
	f.attachments = append(f.attachments, &compactordv1.Attachment{Dialect: kind, Key: key})
}

// keepWithin keeps the fields of an inner object that were not said.
func (f *fields) keepWithin(key string, inner *fields) error {
	rest := make(rawjson.Object)
	for name, value := range inner.Object {
		rest[name] = value
	}
	for _, name := range inner.said {
		delete(rest, name)
	}
	f.say(key)
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

// rest returns all that is kept beside the neutral fields.
func (f *fields) rest() ([]*compactordv1.Attachment, error) {
	residue, err := dialect.Residue(kind, f.Object, nil, f.said...)
	if err != nil {
		return nil, err
	}
	all := append(f.attachments, residue...)
	return all, dialect.BoundAttachments(all)
}

// name reads a tool's name, which must be there.
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

// fieldOf is the field of the message that a part came from, where a note says so.
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

// saysText guards a field of text: a text by what it says, no text by a value that says nothing.
func saysText(text string) func(json.RawMessage) bool {
	if text == "" {
		return saysNothing
	}
	return dialect.MatchesText(text)
}

// layWithin puts the kept fields of an inner object back.
func layWithin(inner rawjson.Object, attachments []*compactordv1.Attachment, key string, guarded dialect.Guards) {
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

// saysNothing says whether a value is missing, null, or an empty string or array.
func saysNothing(raw json.RawMessage) bool {
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
