package transcript

import (
	"slices"

	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// openHandsControls are actions that the model neither requested nor sees.
var openHandsControls = []string{
	"null", "recall", "change_agent_state", "condensation_request", "pause", "resume", "start", "stop", "push", "send_pr",
}

// openHandsBookkeeping are fields of an action that the model did not write.
var openHandsBookkeeping = []string{
	"action", "action_risk", "args", "blocking", "confirmation_state", "hidden", "id", "is_confirmed", "is_static",
	"keep_prompt", "kernel_init_code", "llm_metrics", "message", "security_risk", "source", "thought", "timeout",
	"timestamp", "tool_call_metadata",
}

// action makes a message from an action. It returns nil where a log cannot hold the action.
func (s *openHands) action(o rawjson.Object) (*compactordv1.Message, error) {
	kind, err := o.DemandText("action")
	if err != nil {
		return nil, err
	}
	fields, err := openHandsFields(o, "args")
	if err != nil {
		return nil, err
	}
	var m *compactordv1.Message
	switch {
	case slices.Contains(openHandsControls, kind):
		s.notes.add(controlEvent)
		return nil, nil
	case kind == "system":
		m, err = openHandsText(fields, compactordv1.Role_ROLE_SYSTEM, "content")
	case kind == "message":
		m, err = s.message(o, fields)
	case o.IsText("source", "user"):
		m, err = openHandsUserAction(kind, fields)
	case o.Has("tool_call_metadata"):
		return s.response(o)
	case kind == "finish" || kind == "reject":
		m, err = openHandsText(fields, compactordv1.Role_ROLE_ASSISTANT, "final_thought", "thought")
	default:
		return s.call(kind, fields)
	}
	if fields != nil && o.Has("args") {
		err = rawjson.In("args", err)
	}
	s.unnamed = false
	return m, err
}

// message makes a message from a text of the user or the agent. Old files do not name the author: the two alternate.
func (s *openHands) message(o, fields rawjson.Object) (*compactordv1.Message, error) {
	byUser := o.IsText("source", "user")
	if !o.Has("source") {
		byUser = s.last != compactordv1.Role_ROLE_USER && s.last != compactordv1.Role_ROLE_TOOL
	}
	role := compactordv1.Role_ROLE_ASSISTANT
	if byUser {
		role = compactordv1.Role_ROLE_USER
	}
	m, err := openHandsText(fields, role, "content")
	if err != nil {
		return nil, err
	}
	for _, field := range []string{"image_urls", "images_urls"} {
		images, err := imageParts(fields, field, s.notes)
		if err != nil {
			return nil, err
		}
		m.Parts = append(m.Parts, images...)
	}
	return m, nil
}

// openHandsUserAction makes a USER message about an action of the user. A command is shown as in a terminal.
func openHandsUserAction(kind string, fields rawjson.Object) (*compactordv1.Message, error) {
	for _, field := range []string{"command", "code", "path", "url"} {
		text, err := fields.Text(field)
		if err != nil {
			return nil, err
		}
		if field == "command" && text != "" {
			return textMessage(compactordv1.Role_ROLE_USER, "$ "+text)
		}
		if text != "" {
			return textMessage(compactordv1.Role_ROLE_USER, "["+kind+"] "+text)
		}
	}
	return textMessage(compactordv1.Role_ROLE_USER, "["+kind+"]")
}

// response makes one message from the model's response that requested an action, for all its calls.
func (s *openHands) response(o rawjson.Object) (*compactordv1.Message, error) {
	metadata, err := o.Sub("tool_call_metadata")
	if err != nil {
		return nil, err
	}
	response, err := metadata.Sub("model_response")
	if err != nil {
		return nil, rawjson.In("tool_call_metadata", err)
	}
	id, err := response.Text("id")
	if err != nil || id != "" && s.answered[id] {
		return nil, err
	}
	m, err := litellmAnswer(response, s.notes)
	if err == nil && m == nil {
		err = rawjson.In("choices", rawjson.ErrMissing)
	}
	if err == nil {
		s.answered[id], s.unnamed = true, false
	}
	return m, rawjson.In("tool_call_metadata", rawjson.In("model_response", err))
}

// call makes a message with a call, where only the action is known. The call has no id, since its result follows it.
func (s *openHands) call(kind string, fields rawjson.Object) (*compactordv1.Message, error) {
	m, err := openHandsText(fields, compactordv1.Role_ROLE_ASSISTANT, "thought")
	if err != nil {
		return nil, err
	}
	if kind == "" || len(kind) > maxName {
		return nil, rawjson.In("action", rawjson.TooLarge(len(kind), maxName))
	}
	arguments := make(rawjson.Object)
	for _, key := range fields.Others(openHandsBookkeeping...) {
		arguments[key] = fields[key]
	}
	encoded := arguments.Encode()
	if len(encoded) > maxText {
		return nil, rawjson.In("args", rawjson.TooLarge(len(encoded), maxText))
	}
	m.Parts = append(m.Parts, &compactordv1.Part{Kind: &compactordv1.Part_ToolCall{
		ToolCall: &compactordv1.ToolCall{Name: kind, Arguments: string(encoded)},
	}})
	s.unnamed = true
	return m, nil
}

// openHandsText makes a message from the first field with a text.
func openHandsText(o rawjson.Object, role compactordv1.Role, fields ...string) (*compactordv1.Message, error) {
	for _, field := range fields {
		text, err := o.BoundedText(field, maxText)
		if err != nil {
			return nil, err
		}
		if text != "" {
			return textMessage(role, text)
		}
	}
	return textMessage(role, "")
}
