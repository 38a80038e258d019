package openaichat

import (
	"encoding/json"
	"errors"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var errEmptyName = errors.New("is empty")

// fields is an object that is being read. What the neutral message comes to say counts as said; the rest is kept in
// attachments.
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

// say marks a field as one that the neutral message says word for word.
func (f *fields) say(keys ...string) { f.said = append(f.said, keys...) }

// text reads a string of at most limit bytes. An empty one, or one that decoding changes, is not said by it.
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

// lacks keeps that a field is not there that usually is.
func (f *fields) lacks(key string) {
	f.attachments = append(f.attachments, &compactordv1.Attachment{Dialect: kind, Key: key})
}

// keepWithin keeps what an inner object has beyond what is said of it.
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

// rest returns all that is to be kept beside the neutral fields.
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

// saysText guards a field of text: a text by what it says, no text by a value that says nothing.
func saysText(text string) func(json.RawMessage) bool {
	if text == "" {
		return saysNothing
	}
	return dialect.SaysText(text)
}

// layWithin lays over an inner object what was kept of it.
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
