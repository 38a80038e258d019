package gemini

import (
	"errors"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var (
	errRole     = errors.New("must be user or model")
	errStreamed = errors.New("is a part of a streamed response: put the parts of all contents into one content first")
	errOnlyText = errors.New("is no text, and an instruction holds nothing else")
)

// parser parses one list.
type parser struct {
	parsed *dialect.Parsed
	// at and part are the position that is being parsed.
	at, part int
	// afterResults reports that the content before ended with results, or that there is none before. Then a content that
	// begins with results gets a note that it begins a new content.
	afterResults bool
	calls        openCalls
}

// parse makes neutral messages from a body.
func parse(b *body) (*dialect.Parsed, error) {
	p := &parser{parsed: &dialect.Parsed{}, afterResults: true}
	if b.system != nil {
		m, err := p.parseLenientSystem(b.system)
		if err != nil {
			return nil, dialect.Malformed(-1, 0, rawjson.In("systemInstruction", err))
		}
		p.add(0, m)
	}
	var unread dialect.Unread
	for at, content := range b.messages {
		p.at, p.part = at, 0
		if err := p.parseLenient(&unread, content); err != nil {
			return nil, err
		}
	}
	if err := unread.Err(len(b.messages)); err != nil {
		return nil, err
	}
	if err := dialect.BoundMessages(len(p.parsed.Messages)); err != nil {
		return nil, dialect.Malformed(-1, 0, err)
	}
	if b.response != nil {
		if err := p.parsed.FillFrom(func() error { return p.fillFromResponse(b) }, b.response, b.candidate); err != nil {
			return nil, dialect.Malformed(0, 0, err)
		}
		p.parsed.EndStream(b.ending)
	}
	return p.parsed, nil
}

func (p *parser) add(at int, m *compactordv1.Message) {
	p.parsed.Messages = append(p.parsed.Messages, m)
	p.parsed.Positions = append(p.parsed.Positions, at)
}

func (p *parser) find(rule, text string) {
	p.parsed.Findings = append(p.parsed.Findings, dialect.Finding{Rule: rule, Message: p.at, Part: p.part, Text: text})
}
