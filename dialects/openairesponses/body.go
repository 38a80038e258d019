package openairesponses

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
)

const (
	fieldInput        = "input"
	fieldInstructions = "instructions"
	fieldOutput       = "output"
)

var (
	errNoList    = errors.New("is neither items nor a request or response body with items")
	errErrorBody = errors.New("is an error body, which holds no items; ClassifyError reads those")
	errNotUTF8   = errors.New("is not valid UTF-8")
)

// envelope is what came, taken apart.
type envelope struct {
	// items are the elements of the list.
	items []json.RawMessage
	// instructions are those of a request body, none where it has none.
	instructions json.RawMessage
	// text says that the input as a whole is one text, the one element of items.
	text bool
	// response is a response body, else nil.
	response rawjson.Object
	// ending is how a stream ended, of which the response was put together.
	ending dialect.Ending
}

// open takes apart what came. It is an *dialect.InputError where there is no list in it.
func open(raw []byte) (*envelope, error) {
	raw = bytes.TrimSpace(raw)
	if !utf8.Valid(raw) {
		return nil, dialect.Malformed(-1, 0, errNotUTF8)
	}
	if !json.Valid(raw) {
		_, err := rawjson.ParseObject(raw)
		return nil, dialect.Malformed(-1, 0, err)
	}
	e, err := openValue(raw)
	return e, dialect.Malformed(-1, 0, err)
}

func openValue(raw json.RawMessage) (*envelope, error) {
	switch rawjson.KindOf(raw) {
	case rawjson.Array:
		items, err := rawjson.SplitArray(raw)
		if err == nil && len(items) > 0 && isEvent(items[0]) {
			return openStream(items)
		}
		return &envelope{items: items}, err
	case rawjson.String:
		return &envelope{items: []json.RawMessage{raw}, text: true}, nil
	default:
		o, err := rawjson.SplitObject(raw)
		if err != nil {
			return nil, err
		}
		return openObject(raw, o)
	}
}

func openObject(raw json.RawMessage, o rawjson.Object) (*envelope, error) {
	_, isItem := o["type"]
	if typ, err := o.Text("type"); err == nil && strings.HasPrefix(typ, "response.") && o.Has("response") {
		// The last event of a stream holds the response body.
		inner, err := o.Sub("response")
		if err != nil {
			return nil, err
		}
		e, err := openBody(inner)
		return e, rawjson.In("response", err)
	}
	switch {
	case o.Has("error") && !o.Has(fieldOutput) && !o.Has(fieldInput) && (!isItem || o.IsText("type", "error")):
		return nil, errErrorBody
	case isItem, o.Has("role"):
		return &envelope{items: []json.RawMessage{raw}}, nil
	default:
		return openBody(o)
	}
}

func openBody(o rawjson.Object) (*envelope, error) {
	switch {
	case o.Has(fieldInput):
		return openRequest(o)
	case o.Has(fieldOutput):
		items, err := rawjson.SplitArray(o[fieldOutput])
		if err != nil {
			return nil, rawjson.In(fieldOutput, err)
		}
		if o.IsText("object", "response.compaction") {
			// What was compacted is a list to go on with, and no answer of the model.
			return &envelope{items: items}, nil
		}
		return &envelope{items: items, response: o}, nil
	case o.Has(fieldInstructions):
		return &envelope{instructions: o[fieldInstructions]}, nil
	default:
		return nil, errNoList
	}
}

func openRequest(o rawjson.Object) (*envelope, error) {
	e := &envelope{}
	if o.Has(fieldInstructions) {
		e.instructions = o[fieldInstructions]
	}
	if rawjson.KindOf(o[fieldInput]) == rawjson.String {
		e.items, e.text = []json.RawMessage{o[fieldInput]}, true
		return e, nil
	}
	var err error
	e.items, err = rawjson.SplitArray(o[fieldInput])
	return e, rawjson.In(fieldInput, err)
}
