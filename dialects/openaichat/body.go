package openaichat

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
)

var (
	errNoList        = errors.New("is no list of messages, no message, no request and no response of OpenAI's Chat Completions")
	errErrorBody     = errors.New("is the body of an error; ClassifyError is for those")
	errForeignSystem = errors.New("requests of OpenAI's shape have no such field; its text belongs into a message of role system")
	errStreamed      = errors.New("is a piece of a stream; put its pieces together first")
)

// body holds the messages of an input, and the response that they came from.
type body struct {
	messages []json.RawMessage
	// response is the body of a response, and choice its first choice. Both are nil for other input.
	response, choice rawjson.Object
	choices          int
	// ending says how the stream ended that the response came from.
	ending dialect.Ending
}

func (b *body) list() *dialect.List { return &dialect.List{Messages: b.messages} }

// validJSON returns a copy of an input as valid JSON. It checks all of it, so that the values within need no second
// check.
func validJSON(raw []byte) (json.RawMessage, error) {
	raw = validUTF8(bytes.TrimSpace(raw))
	if rawjson.Valid(raw) {
		return bytes.Clone(raw), nil
	}
	_, err := rawjson.ParseObject(raw)
	return nil, err
}

func bound(b *body) error { return dialect.BoundMessages(len(b.messages)) }

func readList(messages []json.RawMessage) *body { return &body{messages: messages} }

func readObject(raw json.RawMessage) (*body, error) {
	o, err := rawjson.SplitObject(raw)
	switch {
	case err != nil:
		return nil, err
	case o.Has("messages"):
		return readRequest(o)
	case o.Has("role"):
		return &body{messages: []json.RawMessage{raw}}, nil
	case o.Has("error"):
		return nil, errErrorBody
	case o.Has("choices"):
		return readResponse(o)
	default:
		return nil, errNoList
	}
}

func readRequest(o rawjson.Object) (*body, error) {
	if o.Has("system") {
		return nil, rawjson.In("system", errForeignSystem)
	}
	messages, err := o.SplitElements("messages")
	return &body{messages: messages}, err
}

func readResponse(o rawjson.Object) (*body, error) {
	choices, err := o.SplitElements("choices")
	if err != nil {
		return nil, err
	}
	if len(choices) == 0 {
		return nil, rawjson.In("choices", rawjson.ErrEmpty)
	}
	choice, err := rawjson.SplitObject(choices[0])
	switch {
	case err != nil:
	case choice.Has("message"):
	case choice.Has("delta"):
		err = rawjson.In("delta", errStreamed)
	default:
		err = rawjson.In("message", rawjson.ErrMissing)
	}
	return &body{
		messages: []json.RawMessage{choice["message"]}, response: o, choice: choice, choices: len(choices),
	}, rawjson.In("choices", rawjson.InElement(0, err))
}

// validUTF8 replaces each byte that is no UTF-8, as decoding would, since attachments must be valid text.
func validUTF8(raw []byte) []byte {
	if utf8.Valid(raw) {
		return raw
	}
	return []byte(string([]rune(string(raw))))
}
