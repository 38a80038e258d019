package openaichat

import (
	"encoding/json"
	"errors"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
)

var errWholeAnswer = errors.New("is a whole message where a piece of one should be: give each response alone")

// deltaRule says how the pieces of a message are joined.
var deltaRule = &rawjson.JoinRule{
	Texts: []string{"refusal", reasoningContent, reasoning},
	Objects: map[string]*rawjson.JoinRule{
		"function_call": {Texts: []string{"arguments"}},
		"audio":         {Texts: []string{"data", "transcript"}, Latest: []string{"expires_at"}},
	},
	Lists: map[string]*rawjson.ListRule{
		"content": {Continued: []string{"text", "thinking"}, Element: &rawjson.JoinRule{
			Texts: []string{"text"},
			Lists: map[string]*rawjson.ListRule{
				"thinking": {Continued: []string{"text"}, Element: &rawjson.JoinRule{Texts: []string{"text"}}},
			},
		}},
		"tool_calls": {Element: &rawjson.JoinRule{Objects: map[string]*rawjson.JoinRule{
			typeFunction: {Texts: []string{"arguments"}},
			typeCustom:   {Texts: []string{"input"}},
		}}},
		reasoningDetails: {KeepIndex: true, Element: &rawjson.JoinRule{Texts: []string{"text", "summary", "data"}}},
		"annotations":    {Element: &rawjson.JoinRule{}},
	},
}

// isEvent reports whether an object is a chunk of a stream, or the error that ends one, and no message.
func isEvent(o rawjson.Object) bool {
	return !o.Has("role") && (o.Has("choices") || o.Has("error") || o.IsText("object", "chat.completion.chunk") ||
		o.IsText("type", "chunk") && o.Has("chunk"))
}

// stream assembles a response from its chunks.
type stream struct {
	// body holds the fields of the chunks except their choices.
	body    rawjson.Object
	choices map[uint32]*streamedChoice
	ending  dialect.Ending
}

// streamedChoice is a choice while its chunks are read.
type streamedChoice struct {
	// fields holds the fields of the choice except its message.
	fields, message *rawjson.Join
	// hasParts reports that the content came as a list of parts.
	hasParts bool
}

// readStream returns the body that the response would have had without streaming.
func readStream(events []json.RawMessage) (*body, error) {
	s := &stream{body: make(rawjson.Object), choices: make(map[uint32]*streamedChoice)}
	for i, raw := range events {
		if err := s.event(raw); err != nil {
			return nil, rawjson.InElement(i, err)
		}
	}
	first := s.first()
	message, err := first.encode()
	if err != nil {
		return nil, err
	}
	b := &body{
		messages: []json.RawMessage{message.Encode()}, response: s.body, choice: first.fields.Object(),
		choices: len(s.choices), ending: s.ending,
	}
	b.ending.Cut = !s.ending.Failed && providerStop(b.choice) == ""
	return b, nil
}

func (s *stream) event(raw json.RawMessage) error {
	o, err := rawjson.SplitObject(raw)
	if err == nil && o.IsText("type", "chunk") && o.Has("chunk") {
		// This is an event of an SDK. It holds the chunk, and the SDK's own state.
		o, err = o.SplitSub("chunk")
	}
	switch {
	case err != nil:
		return err
	case o.Has("role"):
		return dialect.ErrMixed
	case o.Has("error"):
		s.ending.Fail(o["error"])
	}
	for _, key := range []string{"model", "usage"} {
		if o.Has(key) {
			s.body[key] = o[key]
		}
	}
	return o.EachIndexed("choices", s.choice)
}

func (s *stream) choice(index uint32, o rawjson.Object) error {
	if o.Has("message") && !o.Has("delta") {
		return rawjson.In("message", errWholeAnswer)
	}
	if s.choices[index] == nil {
		s.choices[index] = newChoice()
	}
	// Some providers report the usage here.
	if o.Has("usage") && !s.body.Has("usage") {
		s.body["usage"] = o["usage"]
	}
	delta, err := o.SplitSub("delta")
	if err != nil {
		return err
	}
	delete(o, "delta")
	if err := s.choices[index].fields.Add(o); err != nil {
		return err
	}
	return rawjson.In("delta", s.choices[index].add(delta))
}

// first returns the choice with the lowest number, or an empty one where there is none.
func (s *stream) first() *streamedChoice {
	var first *streamedChoice
	var lowest uint32
	for index, c := range s.choices {
		if first == nil || index < lowest {
			first, lowest = c, index
		}
	}
	if first == nil {
		return newChoice()
	}
	return first
}

func newChoice() *streamedChoice {
	return &streamedChoice{
		fields:  rawjson.NewJoin(&rawjson.JoinRule{Latest: []string{"finish_reason", "stop_reason"}}),
		message: rawjson.NewJoin(deltaRule),
	}
}

// add adds a piece of the message. A text is joined as a part, since parts can follow it.
func (c *streamedChoice) add(delta rawjson.Object) error {
	content := delta["content"]
	if rawjson.KindOf(content) == rawjson.String {
		part := rawjson.Object{"type": rawjson.Quote("text"), "text": content}
		delta["content"] = rawjson.EncodeArray([]json.RawMessage{part.Encode()})
	}
	c.hasParts = c.hasParts || rawjson.KindOf(content) == rawjson.Array
	return c.message.Add(delta)
}

// encode returns the message so far.
func (c *streamedChoice) encode() (rawjson.Object, error) {
	o := c.message.Object()
	if !o.Has("role") || o.IsText("role", "") {
		o["role"] = rawjson.Quote(roleAssistant)
	}
	if c.hasParts || rawjson.KindOf(o["content"]) != rawjson.Array {
		return o, nil
	}
	parts, err := rawjson.SplitArray(o["content"])
	if err != nil {
		return nil, err
	}
	part, err := rawjson.SplitObject(parts[0])
	if err == nil {
		o["content"] = part["text"]
	}
	return o, err
}
