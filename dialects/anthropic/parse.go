package anthropic

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var (
	errRole      = errors.New("unknown role; known are user, assistant and system")
	errContent   = errors.New("must be a string or an array")
	errResponse  = errors.New("must be assistant in a response")
	errManyNotes = fmt.Errorf("%w: more than %d fields that are not known", dialect.ErrLimit, dialect.MaxAttachments)
)

func (messagesAPI) Parse(raw []byte) (*dialect.Parsed, error) {
	doc, err := splitDocument(raw)
	if err != nil {
		return nil, err
	}
	p := &parser{parsed: &dialect.Parsed{Response: doc.response != nil}}
	if err := p.system(&doc.List); err != nil {
		return nil, err
	}
	var unread dialect.Unread
	for at, message := range doc.Messages {
		p.at = at
		if err := p.lenient(&unread, message); err != nil {
			return nil, err
		}
		if len(p.parsed.Messages) > dialect.MaxMessages {
			return nil, dialect.Malformed(at, 0, errMany)
		}
	}
	if err := unread.Verdict(len(doc.Messages)); err != nil {
		return nil, err
	}
	if doc.response == nil {
		return p.parsed, nil
	}
	answer := p.parsed.Messages[0]
	if answer.GetRole() != compactordv1.Role_ROLE_ASSISTANT {
		return nil, dialect.Malformed(0, 0, rawjson.In("role", errResponse))
	}
	for at, input := range doc.cutInputs {
		if call := answer.GetParts()[at].GetToolCall(); call != nil {
			call.Arguments = input
		}
	}
	if err := p.parsed.Tell(func() error { return p.fillFromEnvelope(answer, doc.response) }, doc.response); err != nil {
		return nil, dialect.Malformed(0, 0, err)
	}
	p.parsed.EndStream(doc.ending)
	return p.parsed, nil
}

// parser makes neutral messages of a list.
type parser struct {
	parsed *dialect.Parsed
	// at is the position in the list.
	at int
}

// add takes a neutral message, with its own fields; the latter are the first one's of those that a message becomes.
func (p *parser) add(m *compactordv1.Message) error {
	if len(m.GetAttachments()) > dialect.MaxAttachments {
		return errManyNotes
	}
	p.parsed.Messages = append(p.parsed.Messages, m)
	p.parsed.Positions = append(p.parsed.Positions, p.at)
	return nil
}

func (p *parser) find(rule string, part int, text string) {
	p.parsed.Findings = append(p.parsed.Findings, dialect.Finding{Rule: rule, Message: p.at, Part: part, Text: text})
}

// system makes one message of the system prompt.
func (p *parser) system(list *dialect.List) error {
	if len(list.System) == 0 {
		return nil
	}
	m := &compactordv1.Message{Role: compactordv1.Role_ROLE_SYSTEM}
	found := len(p.parsed.Findings)
	for i, raw := range list.System {
		part, err := p.lenientSystem(raw, i)
		if err != nil {
			return dialect.Malformed(0, i, rawjson.In("system", rawjson.InElement(i, err)))
		}
		m.Parts = append(m.Parts, part)
	}
	dialect.KeepUnread(kind, m, rawjson.EncodeArray(list.System), p.parsed.Findings[found:])
	if list.SystemAsText {
		m.Attachments = append(m.Attachments, dialect.Note(kind, noteForm, noteString))
	}
	return p.add(m)
}

func (p *parser) message(raw json.RawMessage) error {
	o, err := rawjson.SplitObject(raw)
	if err != nil {
		return err
	}
	role, err := o.DemandText("role")
	if err != nil {
		return err
	}
	c, err := readContent(o, dialect.MaxParts)
	if err != nil {
		return err
	}
	// The content is of the parts' making, except where there are none.
	usual := rawjson.Object{"role": o["role"], "content": o["content"]}
	if len(c.blocks) == 0 {
		usual["content"] = json.RawMessage("[]")
	}
	own, err := dialect.Residue(kind, o, usual)
	if err != nil {
		return err
	}
	if c.isString {
		own = append(own, dialect.Note(kind, noteForm, noteString))
	}
	if len(c.blocks) == 0 {
		p.find(dialect.InputEmptyMessage, 0, "the message is empty; kept as it is")
	}
	switch role {
	case roleUser:
		return p.user(c, own)
	case roleAssistant:
		return p.assistant(o, c, own)
	case roleSystem:
		return p.instruction(c, own)
	default:
		return rawjson.In("role", errRole)
	}
}

// content are the blocks that a message or a tool result holds, as they were written.
type content struct {
	blocks []json.RawMessage
	// isString says that the one block stands for a string.
	isString bool
}

// readContent reads at most so many blocks, and a string as one block of text. An empty string says nothing and gives no block.
func readContent(o rawjson.Object, most int) (content, error) {
	switch value := o["content"]; rawjson.KindOf(value) {
	case rawjson.Missing, rawjson.Null:
		return content{}, nil
	case rawjson.String:
		if string(value) == `""` {
			return content{}, nil
		}
		// Only then can the text be too long, so that it is not decoded twice.
		if len(value) > dialect.MaxText {
			if _, err := o.BoundedText("content", dialect.MaxText); err != nil {
				return content{}, err
			}
		}
		block := rawjson.Object{"type": rawjson.Quote(typeText), "text": value}
		return content{blocks: []json.RawMessage{block.Encode()}, isString: true}, nil
	case rawjson.Array:
		blocks, err := rawjson.SplitArray(value)
		if err == nil && len(blocks) > most {
			err = fmt.Errorf("%w: more than %d blocks", dialect.ErrLimit, most)
		}
		return content{blocks: blocks}, rawjson.In("content", err)
	default:
		return content{}, rawjson.In("content", errContent)
	}
}

// inBlock puts an error under a block of the content.
func inBlock(i int, err error) error { return rawjson.In("content", rawjson.InElement(i, err)) }
