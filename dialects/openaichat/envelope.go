package openaichat

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
)

var (
	errNoList        = errors.New("is neither a list of messages, nor a message, nor the body of a request or a response")
	errErrorBody     = errors.New("is the body of an error; ClassifyError is for those")
	errForeignSystem = errors.New("requests of OpenAI's shape have no such field; its text belongs into a message of role system")
	errStreamed      = errors.New("is a piece of a stream; put its pieces together first")
	errManyMessages  = fmt.Errorf("%w: at most %d messages are possible", dialect.ErrLimit, dialect.MaxMessages)
)

// envelope is what was found around the messages.
type envelope struct {
	messages []json.RawMessage
	// response is the body of a response, nil for all else; choice is its first choice.
	response, choice rawjson.Object
	choices          int
}

func (chat) Split(raw []byte) (*dialect.List, error) {
	e, err := open(raw)
	if err != nil {
		return nil, dialect.Malformed(-1, 0, err)
	}
	return &dialect.List{Messages: e.messages}, nil
}

// open finds the messages in a list, a message, or the body of a request or a response.
func open(raw []byte) (*envelope, error) {
	raw = decodable(bytes.TrimSpace(raw))
	e := &envelope{}
	var err error
	if rawjson.KindOf(raw) == rawjson.Array {
		e.messages, err = elements(raw)
	} else {
		err = e.openObject(raw)
	}
	if err == nil && len(e.messages) > dialect.MaxMessages {
		err = errManyMessages
	}
	return e, err
}

func elements(raw []byte) ([]json.RawMessage, error) {
	list, err := rawjson.ParseArray(raw)
	if err != nil {
		// It looked like an array, so it is no JSON; this error says where it goes wrong.
		_, err = rawjson.ParseObject(raw)
	}
	return list, err
}

func (e *envelope) openObject(raw []byte) error {
	o, err := rawjson.ParseObject(raw)
	switch {
	case err != nil:
		return err
	case o.Has("messages"):
		if o.Has("system") {
			return rawjson.In("system", errForeignSystem)
		}
		e.messages, err = o.Elements("messages")
		return err
	case o.Has("role"):
		e.messages = []json.RawMessage{raw}
		return nil
	case o.Has("error"):
		return errErrorBody
	case o.Has("choices"):
		return e.openResponse(o)
	default:
		return errNoList
	}
}

func (e *envelope) openResponse(body rawjson.Object) error {
	choices, err := body.Elements("choices")
	if err != nil {
		return err
	}
	if len(choices) == 0 {
		return rawjson.In("choices", rawjson.ErrEmpty)
	}
	choice, err := rawjson.ParseObject(choices[0])
	switch {
	case err != nil:
	case choice.Has("message"):
		e.messages = []json.RawMessage{choice["message"]}
	case choice.Has("delta"):
		err = rawjson.In("delta", errStreamed)
	default:
		err = rawjson.In("message", rawjson.ErrMissing)
	}
	e.response, e.choice, e.choices = body, choice, len(choices)
	return rawjson.In("choices", rawjson.InElement(0, err))
}

// decodable replaces each byte that is no UTF-8, as decoding would: what is kept as written must be text.
func decodable(raw []byte) []byte {
	if utf8.Valid(raw) {
		return raw
	}
	return []byte(string([]rune(string(raw))))
}
