package openairesponses

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var (
	errRole     = errors.New("must be user, assistant, system or developer")
	errResponse = errors.New("a response holds only what the model says and does")
	// errEventAlone refuses events that are not a whole stream.
	errEventAlone = errors.New("is an event of a stream: a list holds all of its events, or none")
)

// parser makes neutral messages from items. The items of the model up to the next one of the client become one message.
type parser struct {
	parsed dialect.Parsed
	// reply reports that a response is parsed. All its items become one message.
	reply bool
	// settled are the calls that the same response answers, since the provider ran them itself.
	settled map[string]bool

	// assistant is the message of the model that is being parsed.
	assistant *compactordv1.Message
	// reasonings and others count items of the message that is being parsed: its reasoning, and other items with an id.
	reasonings, others int
}

// parse makes neutral messages from a body.
func parse(b *body) (*dialect.Parsed, error) {
	p := &parser{}
	if b.response != nil {
		return p.parseResponse(b)
	}
	if b.system != nil {
		if err := p.parseSystem(b.system); err != nil {
			return nil, dialect.Malformed(0, 0, rawjson.In(fieldInstructions, err))
		}
	}
	if b.text {
		if err := p.parseInputText(b.messages[0]); err != nil {
			return nil, dialect.Malformed(0, 0, err)
		}
		return &p.parsed, nil
	}
	if err := p.parseItems(b.messages); err != nil {
		return nil, err
	}
	return &p.parsed, nil
}

func (p *parser) parseItems(items []json.RawMessage) error {
	var unread dialect.Unread
	for at, item := range items {
		if err := p.parseLenient(&unread, at, item); err != nil {
			return err
		}
	}
	p.endAssistant()
	return unread.Err(len(items))
}

// add appends a message of the client, and ends the message of the model before it.
func (p *parser) add(at int, m *compactordv1.Message) error {
	if p.reply {
		return errResponse
	}
	p.endAssistant()
	return p.append(at, m)
}

func (p *parser) append(at int, m *compactordv1.Message) error {
	if err := dialect.BoundMessages(len(p.parsed.Messages) + 1); err != nil {
		return err
	}
	p.parsed.Messages = append(p.parsed.Messages, m)
	p.parsed.Positions = append(p.parsed.Positions, at)
	return nil
}

// addParts appends parts to the message of the model, and begins one where there is none.
func (p *parser) addParts(at int, parts ...*compactordv1.Part) error {
	if p.assistant == nil {
		m := &compactordv1.Message{Role: compactordv1.Role_ROLE_ASSISTANT}
		if err := p.append(at, m); err != nil {
			return err
		}
		p.assistant = m
	}
	p.assistant.Parts = append(p.assistant.Parts, parts...)
	if n := len(p.assistant.GetParts()); n > dialect.MaxParts {
		return fmt.Errorf("%w: more than %d parts in one message", dialect.ErrLimit, dialect.MaxParts)
	}
	return nil
}

// endAssistant notes how many items the model's reasoning belongs to. If one of them is missing later, the provider
// does not accept the ids of the others.
func (p *parser) endAssistant() {
	if p.reasonings > 0 {
		p.assistant.Attachments = append(p.assistant.GetAttachments(), note(noteReasoning, countItems(p.reasonings, p.others)))
	}
	p.assistant, p.reasonings, p.others = nil, 0, 0
}

func countItems(reasonings, others int) string {
	return strconv.Itoa(reasonings) + "/" + strconv.Itoa(others)
}

func (p *parser) countID(o rawjson.Object) {
	if _, has := idOf(o); has {
		p.others++
	}
}

// idOf returns an item's own id.
func idOf(o rawjson.Object) (string, bool) {
	id, err := o.Text("id")
	return id, err == nil && id != ""
}

func (p *parser) find(rule string, at int, text string) {
	p.parsed.Findings = append(p.parsed.Findings, dialect.Finding{Rule: rule, Message: at, Text: text})
}
