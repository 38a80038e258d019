package openaichat

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var (
	errRole        = errors.New("unknown role; known are system, developer, user, assistant, tool and function")
	errOfAssistant = errors.New("only a message of role assistant may have it")
	errManyParts   = fmt.Errorf("%w: at most %d parts are possible, %d in a tool result",
		dialect.ErrLimit, dialect.MaxParts, dialect.MaxResultParts)
)

// messageParser parses one message.
type messageParser struct {
	*fields
	at       int
	m        *compactordv1.Message
	findings []dialect.Finding
}

func parseMessage(raw json.RawMessage, at int) (*compactordv1.Message, []dialect.Finding, error) {
	f, err := readFields(raw)
	if err != nil {
		return nil, nil, err
	}
	if err := dialect.CheckDialect(kind, f.Object); err != nil {
		return nil, nil, err
	}
	p := &messageParser{fields: f, at: at, m: &compactordv1.Message{}}
	if err := p.parse(); err != nil {
		return nil, nil, err
	}
	p.m.Attachments, err = p.rest()
	return p.m, p.findings, err
}

func (p *messageParser) parse() error {
	role, err := p.DemandText("role")
	if err != nil {
		return err
	}
	known, ok := roles[role]
	if !ok {
		return rawjson.In("role", errRole)
	}
	p.m.Role = known
	p.markNeutral("role")
	switch p.m.GetRole() {
	case compactordv1.Role_ROLE_ASSISTANT:
		err = p.parseAssistant()
	case compactordv1.Role_ROLE_TOOL:
		err = p.parseResult(role)
	default:
		p.m.Parts, err = p.parseContent(partTypes(p.m.GetRole()))
	}
	if err != nil {
		return err
	}
	if err := p.parseCommon(); err != nil {
		return err
	}
	if len(p.m.GetParts()) == 0 {
		p.find(dialect.InputEmptyMessage, 0, "The message is empty; it is accepted as one without parts.")
	}
	return nil
}

// parseCommon parses the fields of all roles.
func (p *messageParser) parseCommon() error {
	p.m.WrittenAt = parseTimestamp(p.Object)
	if p.m.GetRole() == compactordv1.Role_ROLE_ASSISTANT {
		return nil
	}
	for _, key := range ofAssistant {
		if p.Has(key) {
			return rawjson.In(key, errOfAssistant)
		}
	}
	if p.m.GetRole() == compactordv1.Role_ROLE_TOOL {
		return nil
	}
	var err error
	p.m.Name, err = p.text("name", dialect.MaxName)
	return err
}

func (p *messageParser) parseAssistant() error {
	steps := []func() ([]*compactordv1.Part, error){
		p.parseThinking,
		func() ([]*compactordv1.Part, error) { return p.parseContent(partTypes(p.m.GetRole())) },
		p.parseRefusal, p.parseAudio, p.parseCalls, p.parseFunctionCall,
	}
	for _, step := range steps {
		parts, err := step()
		if err != nil {
			return err
		}
		p.m.Parts = append(p.m.Parts, parts...)
	}
	if len(p.m.GetParts()) > dialect.MaxParts {
		return errManyParts
	}
	var err error
	if p.m.Name, err = p.text("name", dialect.MaxName); err != nil {
		return err
	}
	return p.parseRecorded()
}

func (p *messageParser) find(rule string, part int, text string) {
	p.findings = append(p.findings, dialect.Finding{Rule: rule, Message: p.at, Part: part, Text: text})
}
