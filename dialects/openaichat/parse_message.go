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
	errUnknownRole = errors.New("unknown role; known are system, developer, user, assistant, tool and function")
	errOfAssistant = errors.New("only a message of role assistant may have it")
	errManyParts   = fmt.Errorf("%w: at most %d parts are possible, %d in a tool result",
		dialect.ErrLimit, dialect.MaxParts, dialect.MaxResultParts)
)

var roles = map[string]compactordv1.Role{
	"system":    compactordv1.Role_ROLE_SYSTEM,
	"developer": compactordv1.Role_ROLE_DEVELOPER,
	"user":      compactordv1.Role_ROLE_USER,
	"assistant": compactordv1.Role_ROLE_ASSISTANT,
	"tool":      compactordv1.Role_ROLE_TOOL,
	"function":  compactordv1.Role_ROLE_TOOL,
}

// ofAssistant are the fields that would lose their meaning in a message of another role.
var ofAssistant = []string{"tool_calls", "function_call", "reasoning_content", "refusal", "audio"}

// messageReader reads one message.
type messageReader struct {
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
	r := &messageReader{fields: f, at: at, m: &compactordv1.Message{}}
	if err := r.read(); err != nil {
		return nil, nil, err
	}
	r.m.Attachments, err = r.rest()
	return r.m, r.findings, err
}

func (r *messageReader) read() error {
	role, err := r.DemandText("role")
	if err != nil {
		return err
	}
	known, ok := roles[role]
	if !ok {
		return rawjson.In("role", errUnknownRole)
	}
	r.m.Role = known
	r.say("role")
	switch r.m.GetRole() {
	case compactordv1.Role_ROLE_ASSISTANT:
		err = r.readAssistant()
	case compactordv1.Role_ROLE_TOOL:
		err = r.readResult(role)
	default:
		r.m.Parts, err = r.content(partsOf(r.m.GetRole()))
	}
	if err != nil {
		return err
	}
	if err := r.readCommon(); err != nil {
		return err
	}
	if len(r.m.GetParts()) == 0 {
		r.find(dialect.InputEmptyMessage, 0, "The message says nothing; it is taken as one without parts.")
	}
	return nil
}

// readCommon reads what messages of all roles have.
func (r *messageReader) readCommon() error {
	r.m.WrittenAt = timestampOf(r.Object)
	if r.m.GetRole() == compactordv1.Role_ROLE_ASSISTANT {
		return nil
	}
	for _, key := range ofAssistant {
		if r.Has(key) {
			return rawjson.In(key, errOfAssistant)
		}
	}
	if r.m.GetRole() == compactordv1.Role_ROLE_TOOL {
		return nil
	}
	var err error
	r.m.Name, err = r.text("name", dialect.MaxName)
	return err
}

func (r *messageReader) readAssistant() error {
	steps := []func() ([]*compactordv1.Part, error){
		r.thinking,
		func() ([]*compactordv1.Part, error) { return r.content(partsOf(r.m.GetRole())) },
		r.refusal, r.audio, r.calls, r.functionCall,
	}
	for _, step := range steps {
		parts, err := step()
		if err != nil {
			return err
		}
		r.m.Parts = append(r.m.Parts, parts...)
	}
	if len(r.m.GetParts()) > dialect.MaxParts {
		return errManyParts
	}
	var err error
	if r.m.Name, err = r.text("name", dialect.MaxName); err != nil {
		return err
	}
	return r.readExtras()
}

// refusal reads the message's own field; in a response it stands beside an empty content.
func (r *messageReader) refusal() ([]*compactordv1.Part, error) {
	text, err := r.text("refusal", dialect.MaxText)
	if err != nil || text == "" {
		return nil, err
	}
	return []*compactordv1.Part{{
		Kind:        &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: text, Refusal: true}},
		Attachments: []*compactordv1.Attachment{dialect.Note(kind, noteField, "refusal")},
	}}, nil
}

// audio keeps what the model said aloud as it is.
func (r *messageReader) audio() ([]*compactordv1.Part, error) {
	if !r.Has("audio") {
		return nil, nil
	}
	raw := r.Object["audio"]
	if k := rawjson.KindOf(raw); k != rawjson.ObjectKind {
		return nil, rawjson.In("audio", rawjson.WrongKind(raw, rawjson.ObjectKind))
	}
	part, err := opaque(raw, "audio")
	if err != nil {
		return nil, rawjson.In("audio", err)
	}
	r.say("audio")
	part.Attachments = []*compactordv1.Attachment{dialect.Note(kind, noteField, "audio")}
	return []*compactordv1.Part{part}, nil
}

func (r *messageReader) readResult(role string) error {
	parts, err := r.content(partsOf(compactordv1.Role_ROLE_TOOL))
	if err != nil {
		return err
	}
	if len(parts) > dialect.MaxResultParts {
		return rawjson.In("content", errManyParts)
	}
	result := &compactordv1.ToolResult{Parts: make([]*compactordv1.ResultPart, len(parts))}
	for i, p := range parts {
		result.Parts[i] = resultPart(p)
	}
	if result.CallId, err = r.text("tool_call_id", dialect.MaxID); err != nil {
		return err
	}
	if result.Name, err = r.text("name", dialect.MaxName); err != nil {
		return err
	}
	// It stays an attachment: its being there tells that the text says by itself that the tool failed.
	if result.IsError, err = r.Truth("is_error"); err != nil {
		return err
	}
	r.m.Parts = []*compactordv1.Part{{Kind: &compactordv1.Part_ToolResult{ToolResult: result}}}
	if role == "function" {
		r.note(noteRole, role)
	}
	return nil
}

func resultPart(p *compactordv1.Part) *compactordv1.ResultPart {
	rp := &compactordv1.ResultPart{Attachments: p.GetAttachments()}
	switch k := p.GetKind().(type) {
	case *compactordv1.Part_Media:
		rp.Kind = &compactordv1.ResultPart_Media{Media: k.Media}
	case *compactordv1.Part_Opaque:
		rp.Kind = &compactordv1.ResultPart_Opaque{Opaque: k.Opaque}
	default:
		rp.Kind = &compactordv1.ResultPart_Text{Text: p.GetText()}
	}
	return rp
}

func (r *messageReader) find(rule string, part int, text string) {
	r.findings = append(r.findings, dialect.Finding{Rule: rule, Message: r.at, Part: part, Text: text})
}
