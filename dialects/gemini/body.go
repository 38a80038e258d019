package gemini

import (
	"encoding/json"
	"errors"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
)

var (
	errNoList       = errors.New("is no list of contents, no content, no request and no response of the Gemini API")
	errErrorBody    = errors.New("is the body of an error: ClassifyError takes those")
	errBlocked      = errors.New("is a response without candidates: the prompt was blocked, and there is no message in it")
	errNoCandidates = errors.New("is a response without candidates: there is no message in it")
)

// body is a list of contents, and the response that it came from.
type body struct {
	// system is the systemInstruction as it was written. It is nil where there is none.
	system   json.RawMessage
	messages []json.RawMessage
	// response is the response body. It is nil where the input was no response.
	response rawjson.Object
	// candidate is the first candidate of the response.
	candidate rawjson.Object
	// candidates is the number of candidates in the response.
	candidates int
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

func bound(b *body) error { return rawjson.In("contents", dialect.BoundMessages(len(b.messages))) }

func readList(messages []json.RawMessage) *body { return &body{messages: messages} }

func readObject(raw json.RawMessage) (*body, error) {
	o, err := rawjson.SplitObject(raw)
	if err != nil {
		return nil, err
	}
	switch {
	case o.Has("error"):
		return nil, errErrorBody
	case has(o, "contents") || has(o, "systemInstruction") || has(o, "system_instruction"):
		return readRequest(o)
	case has(o, "candidates") || has(o, "promptFeedback") || has(o, "prompt_feedback"):
		return readResponse(o)
	case has(o, "parts") || has(o, "role"):
		return &body{messages: []json.RawMessage{raw}}, nil
	default:
		return nil, errNoList
	}
}

func has(o rawjson.Object, key string) bool {
	_, found := o[key]
	return found
}

func readRequest(o rawjson.Object) (*body, error) {
	b := &body{}
	if system := either(o, "systemInstruction", "system_instruction"); system != nil {
		b.system = system
	}
	switch rawjson.KindOf(o["contents"]) {
	case rawjson.Missing, rawjson.Null:
		return b, nil
	case rawjson.ObjectKind:
		// The API accepts a single content without a list.
		b.messages = []json.RawMessage{o["contents"]}
		return b, nil
	default:
		var err error
		b.messages, err = o.SplitElements("contents")
		return b, err
	}
}

// either returns a field in the spelling that has a value. It returns nil where neither has.
func either(o rawjson.Object, camel, snake string) json.RawMessage {
	for _, key := range []string{camel, snake} {
		if o.Has(key) {
			return o[key]
		}
	}
	return nil
}

func readResponse(o rawjson.Object) (*body, error) {
	candidates, err := o.SplitElements("candidates")
	if err != nil {
		return nil, err
	}
	if len(candidates) == 0 {
		feedback, err := rawjson.SplitObject(either(o, "promptFeedback", "prompt_feedback"))
		if err == nil && either(feedback, "blockReason", "block_reason") != nil {
			return nil, errBlocked
		}
		return nil, errNoCandidates
	}
	candidate, err := rawjson.SplitObject(candidates[0])
	if err != nil {
		return nil, rawjson.In("candidates", rawjson.InElement(0, err))
	}
	content, err := writtenByModel(candidate["content"])
	if err != nil {
		return nil, rawjson.In("candidates", rawjson.InElement(0, rawjson.In("content", err)))
	}
	return &body{
		messages: []json.RawMessage{content}, response: o, candidate: candidate, candidates: len(candidates),
	}, nil
}

// writtenByModel returns the content of a candidate with its role. A list needs the role, and a response may leave it
// out. A candidate that was stopped before its first word has no content.
func writtenByModel(raw json.RawMessage) (json.RawMessage, error) {
	if k := rawjson.KindOf(raw); k == rawjson.Missing || k == rawjson.Null {
		return rawjson.Object{"role": rawjson.Quote(roleModel), "parts": []byte("[]")}.Encode(), nil
	}
	content, err := rawjson.SplitObject(raw)
	if err != nil {
		return nil, err
	}
	if content.Has("role") {
		return raw, nil
	}
	content["role"] = rawjson.Quote(roleModel)
	return content.Encode(), nil
}
