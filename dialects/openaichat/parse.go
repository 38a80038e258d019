package openaichat

import (
	"errors"

	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var errResponse = errors.New("must be assistant: a response holds what the model said")

// parse makes neutral messages from a body.
func parse(b *body) (*dialect.Parsed, error) {
	parsed := &dialect.Parsed{
		Messages:  make([]*compactordv1.Message, 0, len(b.messages)),
		Positions: make([]int, 0, len(b.messages)),
		Response:  b.response != nil,
	}
	var unread dialect.Unread
	for i, raw := range b.messages {
		m, findings, err := parseLenient(&unread, raw, i)
		if err != nil {
			return nil, err
		}
		parsed.Messages = append(parsed.Messages, m)
		parsed.Positions = append(parsed.Positions, i)
		parsed.Findings = append(parsed.Findings, findings...)
	}
	if err := unread.Err(len(b.messages)); err != nil {
		return nil, err
	}
	if b.response != nil {
		if err := parsed.FillFrom(func() error { return b.fillFromResponse(parsed) }, b.response, b.choice); err != nil {
			return nil, dialect.Malformed(0, 0, err)
		}
		parsed.EndStream(b.ending)
	}
	return parsed, nil
}

// ParseMessage parses one message. It also returns what was malformed in it and accepted. Errors are
// *dialect.InputError, with 0 as the message's position.
func ParseMessage(raw []byte) (*compactordv1.Message, []dialect.Finding, error) {
	valid, err := validJSON(raw)
	if err != nil {
		return nil, nil, dialect.Malformed(0, 0, err)
	}
	var unread dialect.Unread
	m, findings, err := parseLenient(&unread, valid, 0)
	if err == nil {
		err = unread.Err(1)
	}
	if err != nil {
		return nil, nil, err
	}
	return m, findings, nil
}
