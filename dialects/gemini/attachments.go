package gemini

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

const noteSnake = "snake"

var (
	errKey      = errors.New("a field that is not known has an overlong name, or one that means another field here")
	errTooMany  = fmt.Errorf("%w: more than %d fields that are not known", dialect.ErrLimit, dialect.MaxAttachments)
	snakeFields = map[string]string{
		"function_call": "functionCall", "function_response": "functionResponse", "inline_data": "inlineData",
		"file_data": "fileData", "thought_signature": "thoughtSignature", "mime_type": "mimeType", "file_uri": "fileUri",
		"display_name": "displayName",
	}
)

// elementsOf returns the elements of an array in valid JSON, none where it is missing or null.
func elementsOf(o rawjson.Object, key string) ([]json.RawMessage, error) {
	if !o.Has(key) {
		return nil, nil
	}
	elements, err := rawjson.SplitArray(o[key])
	return elements, rawjson.In(key, err)
}

// guard says whether a field that was kept is still true: see dialect.Restore.
type guard = func(json.RawMessage) bool

func never(json.RawMessage) bool { return false }

// drawing is a part on its way between the neutral model and JSON: its own fields, and those of the object within it that
// says most of it, such as a functionCall.
type drawing struct {
	// field is the name of the object within; empty where the part has none.
	field                    string
	outer, inner             rawjson.Object
	outerGuards, innerGuards map[string]guard
}

// camel returns an object with the fields that this package knows in camel case, and which of them were not.
func camel(o rawjson.Object, fields ...string) (spelled rawjson.Object, snake []string) {
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

// spell gives fields the spelling that they came in.
func spell(o rawjson.Object, snake []string) {
	for _, field := range snake {
		value, found := o[snakeFields[field]]
		if known := snakeFields[field] != ""; known && found && !has(o, field) {
			o[field] = value
			delete(o, snakeFields[field])
		}
	}
}

// residue returns as attachments what an original part says beyond its drawing.
func (d *drawing) residue(outer, inner rawjson.Object, snake []string) ([]*compactordv1.Attachment, error) {
	var within []string
	if d.field != "" {
		within = []string{d.field}
	}
	kept, err := dialect.Residue(kind, outer, d.outer, within...)
	if err != nil {
		return nil, err
	}
	prefix := d.field + "."
	for _, a := range kept {
		if d.field != "" && strings.HasPrefix(a.GetKey(), prefix) {
			return nil, errKey
		}
	}
	if d.field != "" {
		kept, err = d.innerResidue(kept, inner)
		if err != nil {
			return nil, rawjson.In(d.field, err)
		}
	}
	if len(snake) > 0 {
		kept = append(kept, dialect.Note(kind, noteSnake, strings.Join(snake, " ")))
	}
	return kept, nil
}

func (d *drawing) innerResidue(kept []*compactordv1.Attachment, inner rawjson.Object) ([]*compactordv1.Attachment, error) {
	residue, err := dialect.Residue(kind, inner, d.inner)
	if err != nil {
		return nil, err
	}
	for _, a := range residue {
		a.Key = d.field + "." + a.GetKey()
		if len(a.GetKey()) > dialect.MaxName {
			return nil, errKey
		}
	}
	return append(kept, residue...), nil
}

// bounded returns the attachments of one part or message, if a log takes as many.
func bounded(attachments []*compactordv1.Attachment) ([]*compactordv1.Attachment, error) {
	if len(attachments) > dialect.MaxAttachments {
		return nil, errTooMany
	}
	return attachments, nil
}

// finish lays the attachments over a drawing and returns the part.
func (d *drawing) finish(attachments []*compactordv1.Attachment) rawjson.Object {
	outer, inner := d.divide(attachments)
	snake := strings.Fields(noted(attachments, noteSnake))
	dialect.Restore(d.outer, outer, kind, d.outerGuards)
	if d.field != "" {
		dialect.Restore(d.inner, inner, kind, d.innerGuards)
		spell(d.inner, snake)
		d.outer[d.field] = d.inner.Encode()
	}
	spell(d.outer, snake)
	return d.outer
}

// divide tells the attachments of the part from those of the object within it.
func (d *drawing) divide(attachments []*compactordv1.Attachment) (outer, inner []*compactordv1.Attachment) {
	if d.field == "" {
		return attachments, nil
	}
	for _, a := range attachments {
		if key, within := strings.CutPrefix(a.GetKey(), d.field+"."); within {
			inner = append(inner, &compactordv1.Attachment{Dialect: a.GetDialect(), Key: key, Json: a.GetJson()})
		} else {
			outer = append(outer, a)
		}
	}
	return outer, inner
}

// saysText guards a text that decoding lost something of, or that was left out since it is empty.
func saysText(text string) guard {
	return func(raw json.RawMessage) bool {
		return len(raw) == 0 && text == "" || dialect.SaysText(text)(raw)
	}
}
