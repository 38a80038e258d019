package openairesponses

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
)

var (
	errNoList    = errors.New("is no list of items, no item, no request and no response of OpenAI's Responses API")
	errErrorBody = errors.New("is an error body, which holds no items; ClassifyError reads those")
)

// body holds the list of an input, and the response that it came from.
type body struct {
	// messages are the elements of the list.
	messages []json.RawMessage
	// system is the instructions of a request body. It is nil where there are none.
	system json.RawMessage
	// text reports that the whole input is one text, which is the one element of messages.
	text bool
	// response is a response body, or nil for other input.
	response rawjson.Object
	// ending says how the stream ended that the response came from.
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

// readText reads an input that is one text.
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
		// Compacted items are a list to continue from, and no answer of the model.
		return &body{messages: items}, nil
	}
	return &body{messages: items, response: o}, nil
}
