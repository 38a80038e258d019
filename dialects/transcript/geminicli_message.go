package transcript

import (
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var (
	errGeminiRecord = errors.New("unknown type of record; known are user, gemini, info, warning and error")

	shownOnly = leftOut("message that was shown to the user alone", "messages that were shown to the user alone")
)

// geminiChat makes messages from the records of a chat. A record of the model holds its calls with their results.
type geminiChat struct {
	notes *noteCounter
	texts geminiTexts
}

func newGeminiChat(r *noteCounter) *geminiChat {
	return &geminiChat{notes: r, texts: geminiTexts{notes: r}}
}

func (c *geminiChat) read(raw json.RawMessage) ([]entry, error) {
	o, err := rawjson.ParseObject(raw)
	if err != nil {
		return nil, err
	}
	kind, err := o.DemandText("type")
	if err != nil {
		return nil, err
	}
	var contents []json.RawMessage
	switch kind {
	case "user":
		contents, err = geminiUser(o)
	case "gemini":
		contents, err = geminiTurn(o)
	case "info", "warning", "error":
		c.notes.add(shownOnly)
		return nil, nil
	default:
		err = rawjson.In("type", errGeminiRecord)
	}
	if err != nil {
		return nil, err
	}
	messages, _, err := parseContents(contents, c.notes)
	if err != nil {
		return nil, err
	}
	for i, m := range messages {
		if m.WrittenAt, err = writtenAt(o, time.Millisecond); err != nil {
			return nil, err
		}
		if kind == "gemini" && i == 0 {
			err = geminiResponse(m, o)
		}
		if err != nil {
			return nil, err
		}
	}
	return c.texts.attribute(messages)
}

func geminiUser(o rawjson.Object) ([]json.RawMessage, error) {
	parts, err := geminiParts(o, "content")
	return []json.RawMessage{geminiContent("user", parts)}, err
}

// geminiTurn makes contents from a record of the model: its thoughts, texts and calls, and the results of the calls.
func geminiTurn(o rawjson.Object) ([]json.RawMessage, error) {
	parts, err := geminiThoughts(o)
	if err != nil {
		return nil, err
	}
	content, err := geminiParts(o, "content")
	if err != nil {
		return nil, err
	}
	parts = append(parts, content...)
	calls, err := o.Elements("toolCalls")
	if err != nil {
		return nil, err
	}
	var results []json.RawMessage
	for i, raw := range calls {
		call, answer, err := geminiCall(raw)
		if err != nil {
			return nil, rawjson.In("toolCalls", rawjson.InElement(i, err))
		}
		parts, results = append(parts, call), append(results, answer...)
	}
	contents := []json.RawMessage{geminiContent("model", parts)}
	if len(results) > 0 {
		contents = append(contents, geminiContent("user", results))
	}
	return contents, nil
}

func geminiContent(role string, parts []json.RawMessage) json.RawMessage {
	return rawjson.Object{"role": rawjson.Quote(role), "parts": rawjson.EncodeArray(parts)}.Encode()
}

// geminiParts reads what the SDK accepts as parts: a text, a part, or a list of both.
func geminiParts(o rawjson.Object, field string) ([]json.RawMessage, error) {
	var raws []json.RawMessage
	switch rawjson.KindOf(o[field]) {
	case rawjson.Missing, rawjson.Null:
		return nil, nil
	case rawjson.Array:
		raws, _ = rawjson.ParseArray(o[field])
	default:
		raws = []json.RawMessage{o[field]}
	}
	parts := make([]json.RawMessage, 0, len(raws))
	for i, raw := range raws {
		switch rawjson.KindOf(raw) {
		case rawjson.String:
			// An empty text means that the model wrote none.
			if string(raw) != `""` {
				parts = append(parts, rawjson.Object{"text": raw}.Encode())
			}
		case rawjson.ObjectKind:
			parts = append(parts, raw)
		default:
			return nil, rawjson.In(field, rawjson.InElement(i, rawjson.WrongKind(raw, rawjson.ObjectKind)))
		}
	}
	return parts, nil
}

// geminiThoughts makes thoughts from their recorded summaries, in the words of the model.
func geminiThoughts(o rawjson.Object) ([]json.RawMessage, error) {
	raws, err := o.Elements("thoughts")
	if err != nil {
		return nil, err
	}
	parts := make([]json.RawMessage, 0, len(raws))
	for i, raw := range raws {
		thought, err := rawjson.ParseObject(raw)
		if err != nil {
			return nil, rawjson.In("thoughts", rawjson.InElement(i, err))
		}
		subject, err := thought.Text("subject")
		if err != nil {
			return nil, rawjson.In("thoughts", rawjson.InElement(i, err))
		}
		text, err := thought.Text("description")
		if err != nil {
			return nil, rawjson.In("thoughts", rawjson.InElement(i, err))
		}
		if subject != "" {
			text = strings.TrimSuffix("**"+subject+"** "+text, " ")
		}
		parts = append(parts, rawjson.Object{"text": rawjson.Quote(text), "thought": []byte("true")}.Encode())
	}
	return parts, nil
}

// geminiResponse sets the fields of a message that come from the response.
func geminiResponse(m *compactordv1.Message, o rawjson.Object) error {
	var err error
	if m.Model, err = o.BoundedText("model", maxName); err != nil {
		return err
	}
	tokens, err := o.Sub("tokens")
	if err != nil || tokens == nil {
		return err
	}
	m.Usage, err = geminiUsage(tokens)
	return rawjson.In("tokens", err)
}
