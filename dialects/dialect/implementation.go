package dialect

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Implementation holds the functions of a dialect. Body is the type that an input is read into. Decoded is the type
// that a list is decoded into for the checks.
type Implementation[Body, Decoded any] struct {
	Kind compactordv1.Dialect
	Name string

	// Valid returns the JSON of an input. It checks all of it, so that the values within need no second check.
	Valid func(raw []byte) (json.RawMessage, error)
	// IsEvent reports whether an element is an event of a streamed response, and no message.
	IsEvent func(o rawjson.Object) bool
	// ReadStream reads the events of a streamed response, ReadList reads messages, and ReadObject reads a message, a
	// request or a response.
	ReadStream func(events []json.RawMessage) (Body, error)
	ReadList   func(messages []json.RawMessage) Body
	ReadObject func(raw json.RawMessage) (Body, error)
	// ReadText reads a text, in dialects that accept one as input. Otherwise it is nil.
	ReadText func(raw json.RawMessage) Body
	// Bound returns an error where a body holds more than a log accepts. It is nil where only parsing can find that out.
	Bound func(Body) error

	// List returns the list of a body. Document returns the part of a request body that holds a list.
	List     func(Body) *List
	Document func(*List) rawjson.Object
	// Parse makes neutral messages from a body.
	Parse func(Body) (*Parsed, error)
	// RenderRequest makes a list that the provider accepts. RenderAsWritten makes the list that was parsed.
	RenderRequest   func(messages []*compactordv1.Message, opts RenderOptions) *Rendered
	RenderAsWritten func(messages []*compactordv1.Message) *Rendered

	// Prompt makes the list of a request from the daemon's own messages.
	Prompt func(messages []*compactordv1.Message) (*List, error)
	// Continue puts a prompt after a view. It is nil where the prompt's messages need no change there: see Concat.
	Continue func(view *List, tools json.RawMessage, prompt *List) (*List, error)
	// RequestBody writes a request for a streamed answer. NewAnswer returns a reader for one answer.
	RequestBody func(list *List, opts RequestOptions) rawjson.Object
	NewAnswer   func() AnswerReader

	// Decode decodes a list for the checks, from its JSON and from what a Writer knows of it.
	Decode func(*List, *Writer) Decoded
	Checks []Check[Decoded]
}

// New makes a dialect from its implementation.
func New[Body, Decoded any](i *Implementation[Body, Decoded]) Dialect {
	return implemented[Body, Decoded]{i}
}

type implemented[Body, Decoded any] struct {
	by *Implementation[Body, Decoded]
}

func (d implemented[Body, Decoded]) Kind() compactordv1.Dialect { return d.by.Kind }

func (d implemented[Body, Decoded]) Name() string { return d.by.Name }

func (d implemented[Body, Decoded]) Parse(raw []byte) (*Parsed, error) {
	b, err := d.open(raw)
	if err != nil {
		return nil, err
	}
	return d.by.Parse(b)
}

func (d implemented[Body, Decoded]) Split(raw []byte) (*List, error) {
	b, err := d.open(raw)
	if err != nil {
		return nil, err
	}
	return d.by.List(b), nil
}

// open finds the list in an input, and decodes nothing else.
func (d implemented[Body, Decoded]) open(raw []byte) (Body, error) {
	var b Body
	valid, err := d.by.Valid(raw)
	if err == nil {
		b, err = d.read(valid)
	}
	if err == nil && d.by.Bound != nil {
		err = d.by.Bound(b)
	}
	return b, Malformed(-1, 0, err)
}

func (d implemented[Body, Decoded]) read(valid json.RawMessage) (Body, error) {
	switch kind := rawjson.KindOf(valid); {
	case kind == rawjson.Array:
		return d.readArray(valid)
	case kind == rawjson.String && d.by.ReadText != nil:
		return d.by.ReadText(valid), nil
	default:
		return d.by.ReadObject(valid)
	}
}

func (d implemented[Body, Decoded]) readArray(valid json.RawMessage) (Body, error) {
	elements, err := rawjson.SplitArray(valid)
	if err != nil {
		var none Body
		return none, err
	}
	if len(elements) > 0 {
		if first, err := rawjson.SplitObject(elements[0]); err == nil && d.by.IsEvent(first) {
			return d.by.ReadStream(elements)
		}
	}
	return d.by.ReadList(elements), nil
}

func (d implemented[Body, Decoded]) Document(list *List) json.RawMessage {
	return d.by.Document(list).Encode()
}

func (d implemented[Body, Decoded]) Render(messages []*compactordv1.Message, opts RenderOptions) (*Rendered, error) {
	if opts.AsWritten {
		return d.by.RenderAsWritten(messages), nil
	}
	out := d.by.RenderRequest(messages, opts)
	opts.inWholeList(out)
	return out, nil
}

func (d implemented[Body, Decoded]) Prompt(messages []*compactordv1.Message) (*List, error) {
	return d.by.Prompt(messages)
}

func (d implemented[Body, Decoded]) Continue(view *List, tools json.RawMessage, prompt *List) (*List, error) {
	if d.by.Continue == nil {
		return Concat(view, prompt), nil
	}
	return d.by.Continue(view, tools, prompt)
}

func (d implemented[Body, Decoded]) RequestBody(list *List, opts RequestOptions) json.RawMessage {
	return d.by.RequestBody(list, opts).Encode()
}

func (d implemented[Body, Decoded]) NewAnswer() AnswerReader { return d.by.NewAnswer() }

func (d implemented[Body, Decoded]) Rules() []Rule {
	rules := make([]Rule, len(d.by.Checks))
	for i, c := range d.by.Checks {
		rules[i] = c.Rule
	}
	return rules
}

func (d implemented[Body, Decoded]) Validate(list *List, mode Mode) []Violation {
	return d.Judge(list, nil, mode)
}

func (d implemented[Body, Decoded]) Judge(list *List, by *Writer, mode Mode) []Violation {
	found := run(d.by.Checks, d.by.Decode(list, by), mode)
	for i := range found {
		if found[i].Message >= 0 {
			found[i].Message += list.Before.Messages
		}
	}
	return found
}
