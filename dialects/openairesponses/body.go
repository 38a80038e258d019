package openairesponses

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
)

var (
	errNoList    = errors.New("is neither items nor a request or response body with items")
	errErrorBody = errors.New("is an error body, which holds no items; ClassifyError reads those")
)

// body is what came, taken apart.
type body struct {
	// messages are the elements of the list.
	messages []json.RawMessage
	// system are those of a request body, none where it has none.
	system json.RawMessage
	// text says that the input as a whole is one text, the one element of items.
	text bool
	// response is a response body, else nil.
	response rawjson.Object
	// ending is how a stream ended, of which the response was put together.
	ending dialect.Ending
}

func (b *body) list() *dialect.List {
	list := &dialect.List{Messages: b.messages}
	if b.system != nil {
		list.System = []json.RawMessage{b.system}
	}
	return list
}

func readList(messages []json.RawMessage) *body { return &body{messages: messages} }

// readText reads an input that is a text as a whole.
func readText(raw json.RawMessage) *body { return &body{messages: []json.RawMessage{raw}, text: true} }

func readObject(raw json.RawMessage) (*body, error) {
	o, err := rawjson.SplitObject(raw)
	if err != nil {
		return nil, err
	}
	_, isItem := o["type"]
	if typ, err := o.Text("type"); err == nil && strings.HasPrefix(typ, "response.") && o.Has("response") {
		// The last event of a stream holds the response body.
		inner, err := o.Sub("response")
		if err != nil {
			return nil, err
		}
		b, err := readRequestOrResponse(inner)
		return b, rawjson.In("response", err)
	}
	switch {
	case o.Has("error") && !o.Has(fieldOutput) && !o.Has(fieldInput) && (!isItem || o.IsText("type", "error")):
		return nil, errErrorBody
	case isItem, o.Has("role"):
		return &body{messages: []json.RawMessage{raw}}, nil
	default:
		return readRequestOrResponse(o)
	}
}

func readRequestOrResponse(o rawjson.Object) (*body, error) {
	switch {
	case o.Has(fieldInput):
		return readRequest(o)
	case o.Has(fieldOutput):
		return readResponse(o)
	case o.Has(fieldInstructions):
		return &body{system: o[fieldInstructions]}, nil
	default:
		return nil, errNoList
	}
}

func readRequest(o rawjson.Object) (*body, error) {
	b := &body{}
	if o.Has(fieldInstructions) {
		b.system = o[fieldInstructions]
	}
	if rawjson.KindOf(o[fieldInput]) == rawjson.String {
		b.messages, b.text = []json.RawMessage{o[fieldInput]}, true
		return b, nil
	}
	var err error
	b.messages, err = rawjson.SplitArray(o[fieldInput])
	return b, rawjson.In(fieldInput, err)
}

func readResponse(o rawjson.Object) (*body, error) {
	items, err := rawjson.SplitArray(o[fieldOutput])
	if err != nil {
		return nil, rawjson.In(fieldOutput, err)
	}
	if o.IsText("object", "response.compaction") {
		// What was compacted is a list to go on with, and no answer of the model.
		return &body{messages: items}, nil
	}
	return &body{messages: items, response: o}, nil
}
