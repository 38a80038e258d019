package gemini

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
)

var errPartialArgs = errors.New("holds arguments in pieces: do without streamed arguments of functions")

// isEvent reports whether an object is a piece of a streamed response, or the error that ends one, and no content.
func isEvent(o rawjson.Object) bool {
	return !isContent(o) && (has(o, "candidates") || has(o, "promptFeedback") || has(o, "prompt_feedback") ||
		has(o, "usageMetadata") || has(o, "usage_metadata") || has(o, "error"))
}

func isContent(o rawjson.Object) bool { return o.Has("parts") || o.Has("role") }

// stream assembles a response from its pieces.
type stream struct {
	// body holds the fields of the pieces except their candidates.
	body       rawjson.Object
	candidates map[uint32]*streamedCandidate
	ending     dialect.Ending
}

// streamedCandidate is a candidate while its pieces are read.
type streamedCandidate struct {
	// fields holds the fields of the candidate except the content. content holds the fields of the content except the
	// parts.
	fields, content rawjson.Object
	parts           []*streamedPart
}

// streamedPart is a part while its pieces are read.
type streamedPart struct {
	raw json.RawMessage
	// fields and text are set for a part that has nothing but a text or a thought. The next piece can continue it.
	fields rawjson.Object
	text   *rawjson.Pieces
}

// readStream returns the body that the response would have had without streaming.
func readStream(chunks []json.RawMessage) (*body, error) {
	s := &stream{body: make(rawjson.Object), candidates: make(map[uint32]*streamedCandidate)}
	for i, raw := range chunks {
		if err := s.event(raw); err != nil {
			return nil, rawjson.InElement(i, err)
		}
	}
	feedback, err := rawjson.SplitObject(either(s.body, "promptFeedback", "prompt_feedback"))
	if err == nil && len(s.candidates) == 0 && either(feedback, "blockReason", "block_reason") != nil {
		return nil, errBlocked
	}
	b := &body{response: s.body, candidate: rawjson.Object{}, candidates: len(s.candidates), ending: s.ending}
	content := rawjson.Object{}
	var parts []json.RawMessage
	if len(s.candidates) > 0 {
		first := s.candidates[slices.Min(slices.Collect(maps.Keys(s.candidates)))]
		b.candidate, content, parts = first.fields, first.content, first.encode()
	}
	if !content.Has("role") {
		content["role"] = rawjson.Quote(roleModel)
	}
	content["parts"] = rawjson.EncodeArray(parts)
	b.messages = []json.RawMessage{content.Encode()}
	b.ending.Cut = !s.ending.Failed && either(b.candidate, "finishReason", "finish_reason") == nil
	return b, nil
}

func (s *stream) event(raw json.RawMessage) error {
	o, err := rawjson.SplitObject(raw)
	if err != nil {
		return err
	}
	if isContent(o) {
		return dialect.ErrMixed
	}
	if o.Has("error") {
		s.ending.Fail(o["error"])
	}
	for key := range o {
		if key != "candidates" && o.Has(key) {
			s.body[key] = o[key]
		}
	}
	return o.EachIndexed("candidates", s.candidate)
}

func (s *stream) candidate(index uint32, o rawjson.Object) error {
	c := s.candidates[index]
	if c == nil {
		c = &streamedCandidate{fields: make(rawjson.Object), content: make(rawjson.Object)}
		s.candidates[index] = c
	}
	for key := range o {
		if key != "content" && o.Has(key) {
			c.fields[key] = o[key]
		}
	}
	if !o.Has("content") {
		return nil
	}
	return rawjson.In("content", c.add(o["content"]))
}

// add adds a piece of the content.
func (c *streamedCandidate) add(raw json.RawMessage) error {
	content, err := rawjson.SplitObject(raw)
	if err != nil {
		return err
	}
	parts, err := content.SplitElements("parts")
	if err != nil {
		return err
	}
	delete(content, "parts")
	for key, value := range content {
		if c.content[key] == nil {
			c.content[key] = value
		}
	}
	for i, raw := range parts {
		if err := c.part(raw); err != nil {
			return rawjson.In("parts", rawjson.InElement(i, err))
		}
	}
	return nil
}

// part adds a part, or continues the last one. A part with a signature is never joined, since it is unknown which text
// the signature covers.
func (c *streamedCandidate) part(raw json.RawMessage) error {
	o, err := rawjson.SplitObject(raw)
	if err != nil {
		return err
	}
	if call, err := rawjson.SplitObject(either(o, "functionCall", "function_call")); err == nil &&
		either(call, "partialArgs", "partial_args") != nil {
		return rawjson.In(fieldCall, errPartialArgs)
	}
	p := &streamedPart{raw: raw}
	if rawjson.KindOf(o[fieldText]) == rawjson.String && len(o.Others(fieldText, "thought")) == 0 {
		if n := len(c.parts); n > 0 && c.parts[n-1].text != nil && isThought(c.parts[n-1].fields) == isThought(o) {
			c.parts[n-1].text.Add(o[fieldText])
			return nil
		}
		p.fields, p.text = o, &rawjson.Pieces{}
		p.text.Add(o[fieldText])
	}
	c.parts = append(c.parts, p)
	return nil
}

func (c *streamedCandidate) encode() []json.RawMessage {
	all := make([]json.RawMessage, len(c.parts))
	for i, p := range c.parts {
		if all[i] = p.raw; p.text != nil {
			p.fields[fieldText] = p.text.Value()
			all[i] = p.fields.Encode()
		}
	}
	return all
}
