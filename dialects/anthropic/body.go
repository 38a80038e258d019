package anthropic

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
)

var (
	errNoList    = errors.New("is no list of messages, no message, no request and no response of the Anthropic API")
	errErrorBody = errors.New("is the body of an error, not of a response; ClassifyError takes it")
	errSystem    = errors.New("must be a string or an array")
)

// body is what an input holds: a list and, where the list came from a response, that response.
type body struct {
	dialect.List

	response rawjson.Object
	// ending says how the stream ended that the response came from. cutArguments are the inputs of its calls that broke
	// off, by the position of the block.
	ending       dialect.Ending
	cutArguments map[int]string
}

func (b *body) list() *dialect.List { return &b.List }

func bound(b *body) error { return dialect.BoundMessages(len(b.Messages)) }

func readList(messages []json.RawMessage) *body { return &body{List: dialect.List{Messages: messages}} }

func readObject(raw json.RawMessage) (*body, error) {
	o, err := rawjson.SplitObject(raw)
	if err != nil {
		return nil, errNoList
	}
	switch {
	case o["messages"] != nil:
		return readRequest(o)
	case o.Has("error") && !o.Has("role"):
		return nil, rawjson.In("error", errErrorBody)
	case isResponse(o):
		return readResponse(o), nil
	case o["role"] != nil || o["content"] != nil:
		return &body{List: dialect.List{Messages: []json.RawMessage{raw}}}, nil
	default:
		return nil, errNoList
	}
}

// isResponse reports whether an object is a response body and no message. Some gateways leave out its type, but all of
// them report the usage.
func isResponse(o rawjson.Object) bool {
	return o.IsText("type", "message") || o.Has("usage") && o.IsText("role", roleAssistant)
}

// readResponse returns a list of the fields that can go into a request. Other fields, such as the id, describe the
// response.
func readResponse(o rawjson.Object) *body {
	message := rawjson.Object{}
	for _, key := range []string{"role", "content"} {
		if value, there := o[key]; there {
			message[key] = value
		}
	}
	return &body{List: dialect.List{Messages: []json.RawMessage{message.Encode()}}, response: o}
}

func readRequest(o rawjson.Object) (*body, error) {
	messages, err := rawjson.SplitArray(o["messages"])
	if err != nil {
		return nil, rawjson.In("messages", err)
	}
	b := &body{List: dialect.List{Messages: messages}}
	switch system := o["system"]; rawjson.KindOf(system) {
	case rawjson.Missing, rawjson.Null:
	case rawjson.String:
		b.SystemAsText = true
		b.System = []json.RawMessage{rawjson.Object{"type": rawjson.Quote(typeText), "text": system}.Encode()}
	case rawjson.Array:
		b.System, err = rawjson.SplitArray(system)
	default:
		err = errSystem
	}
	if err == nil && len(b.System) > dialect.MaxParts {
		err = fmt.Errorf("%w: more than %d blocks", dialect.ErrLimit, dialect.MaxParts)
	}
	return b, rawjson.In("system", err)
}

// systemText returns the system prompt as a string, where that loses nothing.
func systemText(list *dialect.List) (json.RawMessage, bool) {
	if !list.SystemAsText || len(list.System) != 1 {
		return nil, false
	}
	block, err := rawjson.ParseObject(list.System[0])
	if err != nil {
		return nil, false
	}
	return plainText(block)
}

// plainText returns the text of a block that has no fields but its type and text.
func plainText(block rawjson.Object) (json.RawMessage, bool) {
	text := block["text"]
	return text, len(block) == 2 && block.IsText("type", typeText) && rawjson.KindOf(text) == rawjson.String
}
