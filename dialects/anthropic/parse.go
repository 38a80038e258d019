package anthropic

import (
	"errors"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var (
	errRole     = errors.New("unknown role; known are user, assistant and system")
	errContent  = errors.New("must be a string or an array")
	errResponse = errors.New("must be assistant in a response")
)

// parser makes neutral messages of a list.
type parser struct {
	parsed *dialect.Parsed
	// at is the position in the list.
	at int
}

// parse makes neutral messages from a body.
func parse(b *body) (*dialect.Parsed, error) {
	p := &parser{parsed: &dialect.Parsed{Response: b.response != nil}}
	if err := p.parseSystem(&b.List); err != nil {
		return nil, err
	}
	var unread dialect.Unread
	for at, message := range b.Messages {
		p.at = at
		if err := p.parseLenient(&unread, message); err != nil {
			return nil, err
		}
		if err := dialect.BoundMessages(len(p.parsed.Messages)); err != nil {
			return nil, dialect.Malformed(at, 0, err)
		}
	}
	if err := unread.Err(len(b.Messages)); err != nil {
		return nil, err
	}
	if b.response == nil {
		return p.parsed, nil
	}
	answer := p.parsed.Messages[0]
	if answer.GetRole() != compactordv1.Role_ROLE_ASSISTANT {
		return nil, dialect.Malformed(0, 0, rawjson.In("role", errResponse))
	}
	for at, input := range b.cutArguments {
		if call := answer.GetParts()[at].GetToolCall(); call != nil {
			call.Arguments = input
		}
	}
	if err := p.parsed.FillFrom(func() error { return p.fillFromResponse(answer, b.response) }, b.response); err != nil {
		return nil, dialect.Malformed(0, 0, err)
	}
	p.parsed.EndStream(b.ending)
	return p.parsed, nil
}

// add appends a neutral message. Where the provider's message becomes several, the first has its attachments.
func (p *parser) add(m *compactordv1.Message) error {
	if err := dialect.BoundAttachments(m.GetAttachments()); err != nil {
		return err
	}
	p.parsed.Messages = append(p.parsed.Messages, m)
	p.parsed.Positions = append(p.parsed.Positions, p.at)
	return nil
}

func (p *parser) find(rule string, part int, text string) {
	p.parsed.Findings = append(p.parsed.Findings, dialect.Finding{Rule: rule, Message: p.at, Part: part, Text: text})
}
