package dialecttest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"

	"pgregory.net/rapid"

	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Source is JSON as a provider or its client writes it.
type Source struct {
	// Raw is the input to parse.
	Raw []byte
	// System and Messages are its content, as in dialect.List.
	System, Messages []json.RawMessage
	// Response reports that Raw is a response body.
	Response bool
}

// SourceOf draws JSON of a dialect: the shapes in its provider's documentation, each in all forms that the provider
// accepts, with unknown fields and values that are easily lost.
func SourceOf(t *rapid.T, kind compactordv1.Dialect) Source {
	w := &writer{}
	switch kind {
	case compactordv1.Dialect_DIALECT_OPENAI_CHAT:
		return w.openaichat(t)
	case compactordv1.Dialect_DIALECT_OPENAI_RESPONSES:
		return w.openairesponses(t)
	case compactordv1.Dialect_DIALECT_ANTHROPIC:
		return w.anthropic(t)
	case compactordv1.Dialect_DIALECT_GEMINI:
		return w.gemini(t)
	default:
		panic("no such dialect: " + kind.String())
	}
}

// writer numbers what it makes, so that all ids differ.
type writer struct{ made int }

func (w *writer) id(prefix string) string {
	w.made++
	return fmt.Sprintf("%s%d", prefix, w.made)
}

// object makes an object from keys and values. JSON stays unchanged, and Go's strings become texts.
func object(pairs ...any) rawjson.Object {
	o := make(rawjson.Object, len(pairs)/2)
	for pair := range slices.Chunk(pairs, 2) {
		key, ok := pair[0].(string)
		if !ok {
			panic("a key that is no string")
		}
		switch value := pair[1].(type) {
		case string:
			o[key] = rawjson.Quote(value)
		case json.RawMessage:
			o[key] = value
		case rawjson.Object:
			o[key] = value.Encode()
		case []json.RawMessage:
			o[key] = rawjson.EncodeArray(value)
		default:
			panic(fmt.Sprintf("a value of type %T", value))
		}
	}
	return o
}

func raw(text string) json.RawMessage { return json.RawMessage(text) }

// odd sometimes adds unknown fields.
func odd(t *rapid.T, o rawjson.Object) rawjson.Object {
	for chance(t, 12) {
		o[oneOf(t, []string{"x_extra", "Role", "läuft", "x.y", "zz"})] = raw(oneOf(t, oddValues))
	}
	return o
}

// maybe sets a field with this probability in percent.
func maybe(t *rapid.T, o rawjson.Object, percent int, key string, values ...string) {
	if chance(t, percent) {
		o[key] = raw(oneOf(t, values))
	}
}

// textJSON draws a text as JSON. It can have escapes, and halves of characters that decoding loses.
func textJSON(t *rapid.T) json.RawMessage {
	text := oneOf(t, slices.Concat(plainTexts, controlTexts, worldTexts))
	switch dice(t, 8) {
	case 5:
		return escaped(text)
	case 6:
		return raw(oneOf(t, []string{
			`"cut off \ud83d"`, `"\ude00 cut off"`, `"\/ \u0041 \ud83d\ude00"`, `"\ud83d\ud83d\ude00"`, `"\u003c\u2028\u0000"`,
		}))
	case 7:
		return rawjson.Quote("x" + rapid.String().Draw(t, "any text"))
	default:
		return rawjson.Quote(text)
	}
}

// textOrBlankJSON draws a text as JSON that can also be empty.
func textOrBlankJSON(t *rapid.T) json.RawMessage {
	if chance(t, 10) {
		return rawjson.Quote(oneOf(t, append([]string{""}, blankTexts...)))
	}
	return textJSON(t)
}

// escaped returns a text with all of its characters as escapes.
func escaped(text string) json.RawMessage {
	var b strings.Builder
	b.WriteByte('"')
	for _, unit := range utf16.Encode([]rune(text)) {
		fmt.Fprintf(&b, `\u%04X`, unit)
	}
	b.WriteByte('"')
	return raw(b.String())
}

// argumentsJSON draws a JSON object with arguments of a call.
func argumentsJSON(t *rapid.T) json.RawMessage {
	return raw(oneOf(t, []string{
		"{}", `{"path":"a.go"}`, `{"n":12345678901234567890123,"m":1e400}`, `{"x":1.10,"y":-0}`, `{ "b": [1, 2],  "a": null }`,
		`{"s":"\u2028\ud83d"}`, `{"läuft":"🙂","q":"<a&b>"}`,
	}))
}

// respaced returns JSON, sometimes with other white space.
func respaced(t *rapid.T, compact json.RawMessage) []byte {
	if !chance(t, 20) {
		return compact
	}
	indented, err := json.MarshalIndent(compact, "", "\t")
	if err != nil {
		panic(err)
	}
	return append([]byte("\n "), append(indented, "\r\n\t"...)...)
}

// listOrBody draws the forms of a list: alone, or in a request body under a key.
func listOrBody(t *rapid.T, key string, list []json.RawMessage, body rawjson.Object) []byte {
	if len(body) == 0 && chance(t, 50) {
		return respaced(t, rawjson.EncodeArray(list))
	}
	body[key] = rawjson.EncodeArray(list)
	if chance(t, 50) {
		body["model"] = raw(`"model-1"`)
		body["temperature"] = raw("0.70")
	}
	return respaced(t, body.Encode())
}

// imageData is an image of one pixel, or enough of one for the decoders.
const imageData = "iVBORw0KGgo="
