package anthropic

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// The types of events that are read. Others, such as those that SDKs add, have no more information.
const (
	eventStart      = "message_start"
	eventBlockStart = "content_block_start"
	eventBlockDelta = "content_block_delta"
	eventBlockStop  = "content_block_stop"
	eventDelta      = "message_delta"
	eventStop       = "message_stop"
	eventPing       = "ping"
	eventError      = "error"
)

var (
	eventTypes = []string{
		eventStart, eventBlockStart, eventBlockDelta, eventBlockStop, eventDelta, eventStop, eventPing, eventError,
	}
	errSecondMessage = errors.New("begins a second message: give each response alone")
	errSecondBlock   = errors.New("begins a block that has begun")
	errNoBlock       = errors.New("is of a block that has not begun")
)

// isEvent reports whether an object is an event of a stream, and no message.
func isEvent(o rawjson.Object) bool {
	return !o.Has("role") && slices.ContainsFunc(eventTypes, func(typ string) bool { return o.IsText("type", typ) })
}

// stream assembles a response from the events of a stream.
type stream struct {
	// message holds the fields of the response except its content. It is nil until the response began.
	message, usage rawjson.Object
	blocks         map[uint32]*streamedBlock
	stopped        bool
	ending         dialect.Ending
}

// streamedBlock is a block while its events are read.
type streamedBlock struct {
	// raw is the block in its first event. It is complete if no delta follows.
	raw    json.RawMessage
	fields rawjson.Object
	// texts are the fields that came in pieces.
	texts map[string]*rawjson.Pieces
	// input is the JSON of an input, as text. It is nil where the input came whole.
	input     *rawjson.Pieces
	citations []json.RawMessage
}

// readStream returns the body that the response would have had without streaming.
func readStream(elements []json.RawMessage) (*body, error) {
	s := &stream{usage: rawjson.Object{}, blocks: make(map[uint32]*streamedBlock)}
	for i, raw := range elements {
		if err := s.event(raw); err != nil {
			return nil, rawjson.InElement(i, err)
		}
	}
	body := rawjson.Object{"role": rawjson.Quote(roleAssistant)}
	maps.Copy(body, s.message)
	if len(s.usage) > 0 {
		body["usage"] = s.usage.Encode()
	}
	cut := make(map[int]string)
	if len(s.blocks) > 0 || !body.Has("content") {
		var blocks []json.RawMessage
		for at, index := range slices.Sorted(maps.Keys(s.blocks)) {
			block, input := s.blocks[index].encode()
			blocks = append(blocks, block)
			if input != "" {
				cut[at] = input
			}
		}
		body["content"] = rawjson.EncodeArray(blocks)
	}
	b := readResponse(body)
	b.cutArguments, b.ending = cut, s.ending
	b.ending.Cut = !s.ending.Failed && !s.stopped && !body.Has("stop_reason")
	return b, nil
}

func (s *stream) event(raw json.RawMessage) error {
	o, err := rawjson.SplitObject(raw)
	if err != nil {
		return err
	}
	if o.Has("role") {
		return dialect.ErrMixed
	}
	typ, err := o.DemandText("type")
	if err != nil {
		return err
	}
	switch typ {
	case eventStart:
		return s.start(o)
	case eventBlockStart:
		return s.blockStart(o)
	case eventBlockDelta:
		return s.blockDelta(o)
	case eventDelta:
		return s.delta(o)
	case eventStop:
		s.stopped = true
	case eventError:
		s.ending.Fail(o["error"])
	}
	return nil
}

func (s *stream) start(o rawjson.Object) error {
	if s.message != nil {
		return errSecondMessage
	}
	message, err := rawjson.SplitObject(o["message"])
	if err != nil {
		return rawjson.In("message", err)
	}
	s.message = message
	return rawjson.In("message", s.count(message))
}

// count reads the usage in an object. Later counts replace earlier ones.
func (s *stream) count(o rawjson.Object) error {
	if !o.Has("usage") {
		return nil
	}
	usage, err := rawjson.SplitObject(o["usage"])
	for key := range usage {
		if usage.Has(key) {
			s.usage[key] = usage[key]
		}
	}
	return rawjson.In("usage", err)
}

func (s *stream) delta(o rawjson.Object) error {
	if s.message == nil {
		s.message = rawjson.Object{}
	}
	if o.Has("delta") {
		delta, err := rawjson.SplitObject(o["delta"])
		if err != nil {
			return rawjson.In("delta", err)
		}
		for key := range delta {
			if delta.Has(key) {
				s.message[key] = delta[key]
			}
		}
	}
	return s.count(o)
}

func (s *stream) blockStart(o rawjson.Object) error {
	index, err := o.Count("index")
	if err != nil {
		return err
	}
	if s.blocks[index] != nil {
		return rawjson.In("index", errSecondBlock)
	}
	fields, err := rawjson.SplitObject(o["content_block"])
	if err != nil {
		return rawjson.In("content_block", err)
	}
	s.blocks[index] = &streamedBlock{
		raw: o["content_block"], fields: fields, texts: make(map[string]*rawjson.Pieces),
	}
	return nil
}

func (s *stream) blockDelta(o rawjson.Object) error {
	index, err := o.Count("index")
	if err != nil {
		return err
	}
	block := s.blocks[index]
	if block == nil {
		return rawjson.In("index", errNoBlock)
	}
	delta, err := rawjson.SplitObject(o["delta"])
	if err != nil {
		return rawjson.In("delta", err)
	}
	block.add(delta)
	return nil
}

// add adds a delta to the block. Texts are joined, including those of unknown types.
func (b *streamedBlock) add(delta rawjson.Object) {
	b.raw = nil
	switch {
	case delta.IsText("type", "input_json_delta"):
		if b.input == nil {
			b.input = &rawjson.Pieces{}
		}
		b.input.Add(delta["partial_json"])
		return
	case delta.IsText("type", "citations_delta"):
		if delta.Has("citation") {
			b.citations = append(b.citations, delta["citation"])
		}
		return
	case delta.IsText("type", "signature_delta"):
		if delta.Has("signature") {
			b.fields["signature"] = delta["signature"]
		}
		return
	}
	for key, value := range delta {
		switch {
		case key == "type" || !delta.Has(key):
		case rawjson.KindOf(value) != rawjson.String:
			b.fields[key] = value
		default:
			if b.texts[key] == nil {
				b.texts[key] = &rawjson.Pieces{}
				b.texts[key].Add(b.fields[key])
			}
			b.texts[key].Add(value)
		}
	}
}

// encode returns the block so far. Where its input is no JSON because the stream broke off, the block holds the input
// as text, and cutInput is that text.
func (b *streamedBlock) encode() (block json.RawMessage, cutInput string) {
	if b.raw != nil {
		return b.raw, ""
	}
	for key, text := range b.texts {
		b.fields[key] = text.Value()
	}
	if len(b.citations) > 0 {
		b.fields["citations"] = b.allCitations()
	}
	if b.input != nil {
		cutInput = b.joinInput()
	}
	return b.fields.Encode(), cutInput
}

// joinInput joins the pieces of the input, and returns the text where it is no JSON.
func (b *streamedBlock) joinInput() string {
	written, err := rawjson.Object{"input": b.input.Value()}.Text("input")
	switch raw := json.RawMessage(written); {
	case err != nil || written == "":
	case rawjson.Valid(raw):
		b.fields["input"] = raw
	default:
		b.fields["input"] = rawjson.Quote(written)
		return written
	}
	return ""
}

// allCitations returns the citations of the first event and of the deltas.
func (b *streamedBlock) allCitations() json.RawMessage {
	first, err := rawjson.SplitArray(b.fields["citations"])
	if err != nil {
		first = nil
	}
	return rawjson.EncodeArray(append(first, b.citations...))
}
