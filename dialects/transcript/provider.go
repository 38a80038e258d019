package transcript

import (
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/compactord/compactord/dialects/anthropic"
	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/gemini"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	"github.com/compactord/compactord/dialects/openairesponses"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// provider is a dialect whose messages are in a file as in the provider's API.
type provider struct {
	dialect dialect.Dialect
	// list is the field of a request body with the messages. around are the other fields of a body that Parse reads.
	list   string
	around []string
	// joins reports whether an item can be in one message with its neighbours. Neighbours for which it returns true become
	// one message. It is nil where each item is a message.
	joins func(o rawjson.Object) bool
}

// open reads JSON Lines or an array message by message. A body is read whole, since fields that belong before its
// messages can come after them.
func (p provider) open(in *lines, b beginning) (source, error) {
	_, body := signOfBody(b.Object)
	switch {
	case b.array:
		return &providerItems{provider: p, feed: &elementItems{feed: newElements(in, "", nil)}}, nil
	case body && !p.begins(b):
		return &providerBody{provider: p, doc: document{in: in}}, nil
	default:
		return &providerItems{provider: p, feed: &lineItems{in: in}}, nil
	}
}

// begins reports whether an object is a body without messages on one line. It then holds the system prompt of JSON
// Lines, and the messages follow it.
func (p provider) begins(b beginning) bool {
	list, err := b.Elements(p.list)
	return b.line && b.Has(p.list) && err == nil && len(list) == 0
}

// item is a message, or a piece of one, in a file.
type item struct {
	rawjson.Object
	raw json.RawMessage
	// at is its position, and line the line on which it begins.
	at, line int
}

// itemFeed returns the items one by one, and then io.EOF. Their bytes are valid until the next call.
type itemFeed interface {
	next() (item, error)
	unit() unit
	notes() *noteCounter
}

type lineItems struct{ in *lines }

func (f *lineItems) unit() unit { return unitLine }

func (f *lineItems) notes() *noteCounter { return f.in.notes }

func (f *lineItems) next() (item, error) {
	o, line, err := f.in.object()
	return item{Object: o, raw: line, at: f.in.line - 1, line: f.in.line}, err
}

type elementItems struct {
	feed *elements
	read int
}

func (f *elementItems) unit() unit { return unitElement }

func (f *elementItems) notes() *noteCounter { return f.feed.doc.in.notes }

func (f *elementItems) next() (item, error) {
	raw, err := f.feed.next()
	f.read++
	if err != nil {
		return item{}, err
	}
	o, err := rawjson.ParseObject(raw)
	return item{Object: o, raw: raw, at: f.read - 1, line: f.feed.doc.at}, f.feed.on(err)
}

// providerItems reads the items of JSON Lines or an array.
type providerItems struct {
	provider

	feed itemFeed
	held *item // the item after the last batch
	// failed is the error after the last batch.
	failed error
	ready  []entry
}

func (s *providerItems) unit() unit { return s.feed.unit() }

func (s *providerItems) next() (entry, error) {
	for len(s.ready) == 0 {
		batch, err := s.batch()
		if err != nil {
			return entry{}, err
		}
		if err := s.parse(batch); err != nil {
			return entry{}, err
		}
	}
	e := s.ready[0]
	s.ready = s.ready[1:]
	return e, nil
}

// batch returns the next item, or all items of one message.
func (s *providerItems) batch() ([]item, error) {
	var batch []item
	for {
		next, err := s.item()
		if err != nil && len(batch) > 0 {
			// The error is returned after the batch.
			s.failed = err
			return batch, nil
		}
		if err != nil {
			return nil, err
		}
		joins := s.joins != nil && s.joins(next.Object)
		if len(batch) > 0 && !joins {
			s.held = &next
			return batch, nil
		}
		batch = append(batch, next)
		if !joins {
			return batch, nil
		}
		batch[len(batch)-1].raw = append(json.RawMessage(nil), next.raw...)
	}
}

func (s *providerItems) item() (item, error) {
	if held := s.held; held != nil {
		s.held = nil
		return *held, nil
	}
	if err := s.failed; err != nil {
		s.failed = nil
		return item{}, err
	}
	return s.feed.next()
}

func (s *providerItems) parse(batch []item) error {
	raw := batch[0].raw
	if len(batch) > 1 {
		raws := make([]json.RawMessage, len(batch))
		for i, item := range batch {
			raws[i] = item.raw
		}
		raw = rawjson.EncodeArray(raws)
	}
	parsed, err := s.dialect.Parse(raw)
	if err == nil {
		err = s.feed.notes().strictly(parsed.Findings)
	}
	if err != nil {
		at := batch[0]
		if input := (&dialect.InputError{}); errors.As(err, &input) && input.Message >= 0 && input.Message < len(batch) {
			at = batch[input.Message]
		}
		return onLine(at.line, fieldOf(err))
	}
	for i, m := range parsed.Messages {
		at := batch[0].at
		if len(batch) > 1 {
			at = batch[parsed.Positions[i]].at
		}
		s.ready = append(s.ready, entry{message: imported(m, at)})
	}
	return nil
}

// imported sets the origin and position of a message.
func imported(m *compactordv1.Message, at int) *compactordv1.Message {
	m.Origin = importedOrigin(m)
	m.SourcePosition = position(at)
	return m
}

// providerBody reads a request or response body.
type providerBody struct {
	provider

	doc    document
	parsed *dialect.Parsed
	given  int
}

func (s *providerBody) unit() unit { return unitElement }

func (s *providerBody) next() (entry, error) {
	if s.parsed == nil {
		if err := s.read(); err != nil {
			return entry{}, err
		}
	}
	if s.given == len(s.parsed.Messages) {
		return entry{}, io.EOF
	}
	i := s.given
	s.given++
	return entry{message: imported(s.parsed.Messages[i], s.parsed.Positions[i])}, nil
}

func (s *providerBody) read() error {
	b, err := s.doc.token()
	if err != nil {
		return err
	}
	raw, err := s.doc.value(b)
	if err != nil {
		return err
	}
	parsed, err := s.dialect.Parse(raw)
	if err == nil {
		err = s.doc.in.notes.strictly(parsed.Findings)
	}
	if err != nil {
		return onLine(s.doc.at, s.fieldOf(err))
	}
	o, err := rawjson.ParseObject(raw)
	if err != nil {
		return onLine(s.doc.at, err)
	}
	if !parsed.Response {
		s.doc.in.notes.addMany(bodyField, len(o.Others(append(s.around, s.list)...)))
	}
	s.parsed = parsed
	return s.doc.end()
}

// fieldOf adds to an error the path of the message in the body.
func (s *providerBody) fieldOf(err error) error {
	input := &dialect.InputError{}
	if !errors.As(err, &input) || input.Message < 0 {
		return fieldOf(err)
	}
	for _, field := range s.around {
		if strings.HasPrefix(input.Field, field) {
			return fieldOf(err)
		}
	}
	return rawjson.In(s.list, rawjson.InElement(input.Message, fieldOf(err)))
}

func openAnthropic(in *lines, b beginning) (source, error) {
	return provider{dialect: anthropic.New(), list: "messages", around: []string{"system"}}.open(in, b)
}

func openGemini(in *lines, b beginning) (source, error) {
	return provider{
		dialect: gemini.New(), list: "contents", around: []string{"systemInstruction", "system_instruction"},
	}.open(in, b)
}

func openResponses(in *lines, b beginning) (source, error) {
	return provider{
		dialect: openairesponses.New(), list: "input", around: []string{"instructions"}, joins: isModelItem,
	}.open(in, b)
}

// isModelItem reports whether the model wrote an item of OpenAI Responses. Neighbours that it wrote become one message.
func isModelItem(o rawjson.Object) bool {
	if o.Has("role") {
		return o.IsText("role", "assistant")
	}
	kind, err := o.Text("type")
	return err == nil && (kind == "reasoning" || isItemType(kind) && !isOutputType(kind))
}

// isOutputType reports whether an item is the result of a client's tool.
func isOutputType(kind string) bool { return strings.HasSuffix(kind, "_output") }
