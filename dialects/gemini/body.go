package gemini

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
)

var (
	errNotUTF8 = errors.New("is not valid UTF-8")
	errUnknown = errors.New("is no list of contents, no content, no request and no response of the Gemini API")
	errError   = errors.New("is the body of an error: ClassifyError takes those")
	errBlocked = errors.New("is a response without candidates: the prompt was blocked, and there is no message in it")
	errNobody  = errors.New("is a response without candidates: there is no message in it")
)

// envelope is a list of contents with what came around it.
type envelope struct {
	// system is the systemInstruction as it was written, nil where there is none.
	system   json.RawMessage
	contents []json.RawMessage
	// response is the response body, nil if it was none.
	response rawjson.Object
	// candidate is the first candidate of the response.
	candidate rawjson.Object
	// candidates is how many the response has.
	candidates int
	// ending is how a stream ended, of which the response was put together.
	ending dialect.Ending
}

// open finds the list in whatever holds it, and takes it apart no further.
func open(raw []byte) (*envelope, error) {
	e, err := openAny(bytes.TrimSpace(raw))
	if err == nil && len(e.contents) > dialect.MaxMessages {
		err = rawjson.In("contents", rawjson.TooLarge(len(e.contents), dialect.MaxMessages))
	}
	if err != nil {
		return nil, dialect.Malformed(-1, 0, err)
	}
	return e, nil
}

func openAny(raw json.RawMessage) (*envelope, error) {
	if !utf8.Valid(raw) {
		return nil, errNotUTF8
	}
	if rawjson.KindOf(raw) == rawjson.Array && json.Valid(raw) {
		contents, err := rawjson.SplitArray(raw)
		if err == nil && len(contents) > 0 && isChunk(contents[0]) {
			return openStream(contents)
		}
		return &envelope{contents: contents}, err
	}
	o, err := rawjson.ParseObject(raw)
	if err != nil {
		return nil, err
	}
	switch {
	case o.Has("error"):
		return nil, errError
	case has(o, "contents") || has(o, "systemInstruction") || has(o, "system_instruction"):
		return openRequest(o)
	case has(o, "candidates") || has(o, "promptFeedback") || has(o, "prompt_feedback"):
		return openResponse(o)
	case has(o, "parts") || has(o, "role"):
		return &envelope{contents: []json.RawMessage{raw}}, nil
	default:
		return nil, errUnknown
	}
}

func has(o rawjson.Object, key string) bool {
	_, found := o[key]
	return found
}

func openRequest(o rawjson.Object) (*envelope, error) {
	e := &envelope{}
	if system := either(o, "systemInstruction", "system_instruction"); system != nil {
		e.system = system
	}
	switch rawjson.KindOf(o["contents"]) {
	case rawjson.Missing, rawjson.Null:
		return e, nil
	case rawjson.ObjectKind:
		// The API takes one content without a list around it.
		e.contents = []json.RawMessage{o["contents"]}
		return e, nil
	default:
		var err error
		e.contents, err = elementsOf(o, "contents")
		return e, err
	}
}

// either returns the field in the spelling that says something, nil where none does.
func either(o rawjson.Object, camel, snake string) json.RawMessage {
	for _, key := range []string{camel, snake} {
		if o.Has(key) {
			return o[key]
		}
	}
	return nil
}

func openResponse(o rawjson.Object) (*envelope, error) {
	candidates, err := elementsOf(o, "candidates")
	if err != nil {
		return nil, err
	}
	if len(candidates) == 0 {
		feedback, err := rawjson.SplitObject(either(o, "promptFeedback", "prompt_feedback"))
		if err == nil && either(feedback, "blockReason", "block_reason") != nil {
			return nil, errBlocked
		}
		return nil, errNobody
	}
	candidate, err := rawjson.SplitObject(candidates[0])
	if err != nil {
		return nil, rawjson.In("candidates", rawjson.InElement(0, err))
	}
	content, err := writtenByModel(candidate["content"])
	if err != nil {
		return nil, rawjson.In("candidates", rawjson.InElement(0, rawjson.In("content", err)))
	}
	return &envelope{
		contents: []json.RawMessage{content}, response: o, candidate: candidate, candidates: len(candidates),
	}, nil
}

// writtenByModel returns the content of a candidate as one of a list, where it must say who speaks. A candidate that was
// stopped before its first word has no content.
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
