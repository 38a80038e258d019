package openaichat

import (
	"errors"
	"slices"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var errNotOfModel = errors.New("must be assistant: a response holds what the model said")

func (chat) Parse(raw []byte) (*dialect.Parsed, error) {
	e, err := open(raw)
	if err != nil {
		return nil, dialect.Malformed(-1, 0, err)
	}
	parsed := &dialect.Parsed{
		Messages:  make([]*compactordv1.Message, 0, len(e.messages)),
		Positions: make([]int, 0, len(e.messages)),
		Response:  e.response != nil,
	}
	var unread dialect.Unread
	for i, raw := range e.messages {
		m, findings, err := lenient(&unread, raw, i)
		if err != nil {
			return nil, err
		}
		parsed.Messages = append(parsed.Messages, m)
		parsed.Positions = append(parsed.Positions, i)
		parsed.Findings = append(parsed.Findings, findings...)
	}
	if err := unread.Verdict(len(e.messages)); err != nil {
		return nil, err
	}
	if e.response != nil {
		if err := parsed.Tell(func() error { return e.tell(parsed) }, e.response, e.choice); err != nil {
			return nil, dialect.Malformed(0, 0, err)
		}
		parsed.EndStream(e.ending)
	}
	return parsed, nil
}

// ParseMessage reads one message, and what was malformed in it and taken all the same. Errors are *dialect.InputError,
// with 0 as the message's position.
func ParseMessage(raw []byte) (*compactordv1.Message, []dialect.Finding, error) {
	valid, err := validJSON(raw)
	if err != nil {
		return nil, nil, dialect.Malformed(0, 0, err)
	}
	var unread dialect.Unread
	m, findings, err := lenient(&unread, valid, 0)
	if err == nil {
		err = unread.Verdict(1)
	}
	if err != nil {
		return nil, nil, err
	}
	return m, findings, nil
}

// tell puts what a response says of its message into the message, where the message itself does not say it.
func (e *envelope) tell(parsed *dialect.Parsed) error {
	m := parsed.Messages[0]
	if m.GetRole() != compactordv1.Role_ROLE_ASSISTANT {
		return rawjson.In("role", errNotOfModel)
	}
	if m.GetUsage() == nil {
		usage, err := usageOf(e.response)
		if err != nil {
			return err
		}
		m.Usage = usage
	}
	if m.GetModel() == "" {
		model, err := e.response.BoundedText("model", dialect.MaxName)
		if err != nil {
			return err
		}
		m.Model = model
	}
	parsed.ProviderStop = stopWord(e.choice)
	// A refusal ends with the word of any other answer.
	if m.GetStopReason() == compactordv1.StopReason_STOP_REASON_UNSPECIFIED {
		m.StopReason = stopReasonOf(e.choice)
	}
	if e.choices > 1 {
		parsed.Findings = slices.Insert(parsed.Findings, 0, dialect.Finding{
			Rule: dialect.InputChoicesLeftOut,
			Text: "The response holds more than one choice; the first is taken, the others are left out.",
		})
	}
	return nil
}
