package transcript

import (
	"encoding/json"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// emit adds a message to the ready entries.
func (s *copilotSession) emit(at *timestamppb.Timestamp, m *compactordv1.Message) error {
	m.WrittenAt = at
	if m.GetOrigin() == compactordv1.Origin_ORIGIN_UNSPECIFIED {
		m.Origin = compactordv1.Origin_ORIGIN_IMPORT
	}
	s.names.see(m)
	for _, p := range m.GetParts() {
		if call := p.GetToolCall(); call != nil {
			s.open[call.GetId()] = s.messages
		}
		delete(s.open, p.GetToolResult().GetCallId())
	}
	s.messages++
	s.entries = append(s.entries, entry{message: m})
	return nil
}

func (s *copilotSession) system(at *timestamppb.Timestamp, data rawjson.Object) error {
	text, err := data.Text("content")
	if err != nil {
		return err
	}
	role := systemRole
	if data.IsText("role", "developer") {
		role = compactordv1.Role_ROLE_DEVELOPER
	}
	m, err := textMessage(role, text)
	if err != nil {
		return rawjson.In("content", err)
	}
	return s.emit(at, m)
}

func (s *copilotSession) user(at *timestamppb.Timestamp, data rawjson.Object) error {
	text, err := data.Text("content")
	if err != nil {
		return err
	}
	m, err := textMessage(compactordv1.Role_ROLE_USER, text)
	if err != nil {
		return rawjson.In("content", err)
	}
	attached, err := s.attachments(data)
	if err != nil {
		return err
	}
	m.Parts = append(m.Parts, attached...)
	source, err := data.Text("source")
	if err != nil {
		return err
	}
	if isCopilotNotice(source) {
		m.Origin = compactordv1.Origin_ORIGIN_CONTINUE
	}
	if err := s.emit(at, m); err != nil {
		return err
	}
	if transformed, err := data.Text("transformedContent"); err == nil && shown(transformed, text) {
		s.in.notes.add(copilotAdded)
	}
	return nil
}

// attachments returns the user's attachments: a file by its path, a piece of a file by its text, a picture as media.
func (s *copilotSession) attachments(data rawjson.Object) ([]*compactordv1.Part, error) {
	raws, err := data.Elements("attachments")
	if err != nil {
		return nil, err
	}
	if len(raws) >= maxParts {
		return nil, rawjson.In("attachments", errManyParts)
	}
	parts := make([]*compactordv1.Part, 0, len(raws))
	for i, raw := range raws {
		part, err := copilotAttachment(raw)
		if err != nil {
			part, err = s.in.notes.part(raw, err)
		}
		if err != nil {
			return nil, rawjson.In("attachments", rawjson.InElement(i, err))
		}
		parts = append(parts, part)
	}
	return parts, nil
}

func copilotAttachment(raw json.RawMessage) (*compactordv1.Part, error) {
	o, err := rawjson.ParseObject(raw)
	if err != nil {
		return nil, err
	}
	kind, err := o.DemandText("type")
	if err != nil {
		return nil, err
	}
	if o.Has("data") {
		return copilotMedia(o)
	}
	text := "[" + kind + "]"
	for _, field := range []string{"path", "filePath", "url", "displayName"} {
		place, err := o.Text(field)
		if err != nil {
			return nil, err
		}
		if place != "" {
			text = "[" + kind + "] " + place
			break
		}
	}
	selected, err := o.Text("text")
	if err != nil {
		return nil, err
	}
	if selected != "" {
		text += "\n" + selected
	}
	if len(text) > maxText {
		return nil, rawjson.TooLarge(len(text), maxText)
	}
	return textPart(text), nil
}

func copilotMedia(o rawjson.Object) (*compactordv1.Part, error) {
	media := &compactordv1.MediaPart{MimeType: dialect.UnknownMime}
	mime, err := o.BoundedText("mimeType", maxName)
	if err != nil {
		return nil, err
	}
	if mime != "" {
		media.MimeType = mime
	}
	if media.Name, err = o.BoundedText("displayName", maxFileName); err != nil {
		return nil, err
	}
	encoded, err := o.DemandText("data")
	if err != nil {
		return nil, err
	}
	data, err := dialect.DecodeBase64(encoded)
	if err != nil {
		return nil, rawjson.In("data", err)
	}
	media.Source = &compactordv1.MediaPart_Data{Data: data}
	return mediaPart(media), nil
}

func (s *copilotSession) assistant(at *timestamppb.Timestamp, data rawjson.Object) error {
	m := &compactordv1.Message{Role: compactordv1.Role_ROLE_ASSISTANT, Model: s.model}
	thought, err := data.BoundedText("reasoningText", maxText)
	if err != nil {
		return err
	}
	if thought == "" {
		thought = s.reasoning
	}
	if thought != "" {
		m.Parts = append(m.Parts, thinkingPart(thought))
	}
	text, err := data.BoundedText("content", maxText)
	if err != nil {
		return err
	}
	if text != "" {
		m.Parts = append(m.Parts, textPart(text))
	}
	calls, err := toolCalls(data, "toolRequests", callFields{id: "toolCallId", arguments: "arguments"})
	if err != nil {
		return err
	}
	m.Parts = append(m.Parts, calls...)
	if len(m.GetParts()) > maxParts {
		return errManyParts
	}
	if err := copilotResponse(m, data); err != nil {
		return err
	}
	if err := s.emit(at, m); err != nil {
		return err
	}
	s.reasoning = ""
	s.in.notes.addMany(signatureLost, boolCount(data.Has("reasoningOpaque") || data.Has("encryptedContent")))
	return nil
}

// copilotResponse sets the fields of a message that come from the event with the model's answer.
func copilotResponse(m *compactordv1.Message, data rawjson.Object) error {
	// outputTokens alone is no usage. Only an event for the user interface has the size of the context.
	model, err := data.BoundedText("model", maxName)
	if err == nil && model != "" {
		m.Model = model
	}
	return err
}

// userTool records a call that the user made, and not the model.
func (s *copilotSession) userTool(data rawjson.Object) error {
	id, err := data.Text("toolCallId")
	if err != nil {
		return err
	}
	name, err := data.BoundedText("toolName", maxName)
	if err != nil {
		return err
	}
	if s.requested == nil {
		s.requested = make(map[string]string)
	}
	s.requested[id] = "[" + name + "] " + string(compacted(data["arguments"]))
	return nil
}

// result makes a message from the result of a call. The result of a user's call becomes a USER message.
func (s *copilotSession) result(at *timestamppb.Timestamp, data rawjson.Object) error {
	result := &compactordv1.ToolResult{}
	var err error
	if result.CallId, err = data.BoundedText("toolCallId", maxID); err != nil {
		return err
	}
	if result.Name, err = data.BoundedText("toolName", maxName); err != nil {
		return err
	}
	succeeded, err := data.Truth("success")
	if err != nil {
		return err
	}
	result.IsError = data.Has("success") && !succeeded
	text, err := copilotOutput(data)
	if err != nil {
		return err
	}
	if asked, byUser := s.requested[result.GetCallId()]; byUser {
		m, err := textMessage(compactordv1.Role_ROLE_USER, asked+"\n"+text)
		if err != nil {
			return err
		}
		m.Origin = compactordv1.Origin_ORIGIN_CONTINUE
		return s.emit(at, m)
	}
	if text != "" {
		result.Parts = resultParts([]*compactordv1.Part{textPart(text)})
	}
	return s.emit(at, &compactordv1.Message{
		Role:  compactordv1.Role_ROLE_TOOL,
		Parts: []*compactordv1.Part{{Kind: &compactordv1.Part_ToolResult{ToolResult: result}}},
	})
}

// copilotOutput returns what the model saw of a call: its output, or the error.
func copilotOutput(data rawjson.Object) (string, error) {
	for _, place := range []struct{ holder, field string }{{"result", "content"}, {"error", "message"}} {
		if rawjson.KindOf(data[place.holder]) == rawjson.String {
			return data.BoundedText(place.holder, maxText)
		}
		inner, err := data.Sub(place.holder)
		if err != nil {
			return "", err
		}
		text, err := inner.BoundedText(place.field, maxText)
		if text != "" || err != nil {
			return text, rawjson.In(place.holder, err)
		}
	}
	return "", nil
}
