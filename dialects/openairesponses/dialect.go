package openairesponses

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// New returns the dialect of the items of the OpenAI Responses API.
func New() dialect.Dialect { return responses{} }

type responses struct{}

func (responses) Kind() compactordv1.Dialect { return kind }

func (responses) Name() string { return "openai_responses" }

// Split takes apart a list of items, one item, one text, a request body or a response body.
func (responses) Split(raw []byte) (*dialect.List, error) {
	e, err := open(raw)
	if err != nil {
		return nil, err
	}
	list := &dialect.List{Messages: e.items}
	if e.instructions != nil {
		list.System = []json.RawMessage{e.instructions}
	}
	return list, nil
}

// Document writes the fields instructions and input of a request body. A list of one text is that text.
func (responses) Document(list *dialect.List) json.RawMessage {
	o := rawjson.Object{fieldInput: rawjson.EncodeArray(list.Messages)}
	if len(list.Messages) == 1 && rawjson.KindOf(list.Messages[0]) == rawjson.String {
		o[fieldInput] = list.Messages[0]
	}
	if len(list.System) > 0 {
		o[fieldInstructions] = list.System[0]
	}
	return o.Encode()
}

// Parse reads items.
func (responses) Parse(raw []byte) (*dialect.Parsed, error) {
	e, err := open(raw)
	if err != nil {
		return nil, err
	}
	r := &reader{}
	if e.response != nil {
		return r.responseBody(e)
	}
	if e.instructions != nil {
		if err := r.instructions(e.instructions); err != nil {
			return nil, dialect.Malformed(0, 0, rawjson.In(fieldInstructions, err))
		}
	}
	if e.text {
		if err := r.text(e.items[0]); err != nil {
			return nil, dialect.Malformed(0, 0, err)
		}
		return &r.parsed, nil
	}
	if err := r.items(e.items); err != nil {
		return nil, err
	}
	return &r.parsed, nil
}

func (r *reader) items(items []json.RawMessage) error {
	var unread dialect.Unread
	for at, item := range items {
		if err := r.lenient(&unread, at, item); err != nil {
			return err
		}
	}
	r.endAtom()
	return unread.Verdict(len(items))
}

// instructions reads the instructions of a request body as the SYSTEM message in front.
func (r *reader) instructions(raw json.RawMessage) error {
	pieces, err := readInstructions(raw)
	if err != nil {
		return r.unreadInstructions(raw, err)
	}
	m := &compactordv1.Message{
		Role:        compactordv1.Role_ROLE_SYSTEM,
		Attachments: []*compactordv1.Attachment{note(noteInstructions, "")},
	}
	text := ""
	for _, p := range pieces {
		m.Parts, text = append(m.Parts, p.part()), p.text.GetText()
	}
	if text == "" {
		r.find(dialect.InputEmptyMessage, 0, "the instructions are empty; kept as they are")
	}
	residue, err := dialect.Residue(kind,
		rawjson.Object{fieldInstructions: raw}, rawjson.Object{fieldInstructions: rawjson.Quote(text)})
	m.Attachments = append(m.GetAttachments(), residue...)
	if err != nil {
		return err
	}
	return r.add(0, m)
}

// text reads an input that is a text as a whole: one message of the user.
func (r *reader) text(raw json.RawMessage) error {
	if err := r.message(0, nil, rawjson.Object{"role": rawjson.Quote("user"), "content": raw}); err != nil {
		return err
	}
	m := r.parsed.Messages[len(r.parsed.Messages)-1]
	m.Attachments = append(m.GetAttachments(), note(noteInput, ""))
	return nil
}
