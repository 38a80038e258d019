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

// body is what was found around the messages.
type body struct {
	messages []json.RawMessage
	// response is the body of a response, nil for all else; choice is its first choice.
	response, choice rawjson.Object
	choices          int
	// ending is how a stream ended, of which the response was put together.
	ending dialect.Ending
}

func (b *body) list() *dialect.List { return &dialect.List{Messages: b.messages} }

// openBody finds the messages in a list, a message, the body of a request or a response, or the chunks of a stream.
func openBody(raw []byte) (*body, error) {
	b, err := readBody(raw)
	if err == nil && len(b.messages) > dialect.MaxMessages {
		err = errManyMessages
	}
	if err != nil {
		return nil, dialect.Malformed(-1, 0, err)
	}
	return b, nil
}

func readBody(raw []byte) (*body, error) {
	raw, err := validJSON(raw)
	if err != nil {
		return nil, err
	}
	b := &body{}
	if rawjson.KindOf(raw) == rawjson.Array {
		return b, b.readList(raw)
	}
	return b, b.readObject(raw)
}

// validJSON returns a copy of JSON in which all that is within can be taken apart without a second look.
func validJSON(raw []byte) (json.RawMessage, error) {
	raw = validUTF8(bytes.TrimSpace(raw))
	if json.Valid(raw) {
		return bytes.Clone(raw), nil
	}
	_, err := rawjson.ParseObject(raw)
	return nil, err
}

func (b *body) readList(raw json.RawMessage) error {
	elements, err := rawjson.SplitArray(raw)
	if err != nil {
		return err
	}
	if len(elements) > 0 {
		if first, err := rawjson.SplitObject(elements[0]); err == nil && isEvent(first) {
			return b.readStream(elements)
		}
	}
	b.messages = elements
	return nil
}

func (b *body) readObject(raw json.RawMessage) error {
	o, err := rawjson.SplitObject(raw)
	switch {
	case err != nil:
		return err
	case o.Has("messages"):
		if o.Has("system") {
			return rawjson.In("system", errForeignSystem)
		}
		b.messages, err = o.SplitElements("messages")
		return err
	case o.Has("role"):
		b.messages = []json.RawMessage{raw}
		return nil
	case o.Has("error"):
		return errErrorBody
	case o.Has("choices"):
		return b.readResponse(o)
	default:
		return errNoList
	}
}

func (b *body) readResponse(body rawjson.Object) error {
	choices, err := body.SplitElements("choices")
	if err != nil {
		return err
	}
	if len(choices) == 0 {
		return rawjson.In("choices", rawjson.ErrEmpty)
	}
	choice, err := rawjson.SplitObject(choices[0])
	switch {
	case err != nil:
	case choice.Has("message"):
		b.messages = []json.RawMessage{choice["message"]}
	case choice.Has("delta"):
		err = rawjson.In("delta", errStreamed)
	default:
		err = rawjson.In("message", rawjson.ErrMissing)
	}
	b.response, b.choice, b.choices = body, choice, len(choices)
	return rawjson.In("choices", rawjson.InElement(0, err))
}

// validUTF8 replaces each byte that is no UTF-8, as decoding would: what is kept as written must be text.
func validUTF8(raw []byte) []byte {
	if utf8.Valid(raw) {
		return raw
	}
	return []byte(string([]rune(string(raw))))
}
