package transcript

import (
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// observation makes a message from an observation. It returns nil where a log cannot hold the observation.
func (s *openHands) observation(o rawjson.Object) (*compactordv1.Message, error) {
	switch {
	case o.IsText("observation", "recall"):
		s.notes.add(retrieved)
		return nil, nil
	case o.IsText("observation", "null"), o.IsText("observation", "agent_state_changed"):
		s.notes.add(controlEvent)
		return nil, nil
	}
	text, err := o.BoundedText("content", maxText)
	if err != nil {
		return nil, err
	}
	extras, err := openHandsFields(o, "extras")
	if err != nil {
		return nil, err
	}
	if extras.Has("screenshot") && !extras.IsText("screenshot", "") {
		s.notes.add(screenshot)
	}
	metadata, err := o.Sub("tool_call_metadata")
	if err != nil {
		return nil, err
	}
	if metadata == nil && !s.unnamed {
		// No call requested it. OpenHands shows it to the model as a text of the user.
		m, err := textMessage(compactordv1.Role_ROLE_USER, text)
		if m != nil {
			m.Origin = compactordv1.Origin_ORIGIN_CONTINUE
		}
		return m, err
	}
	s.unnamed = false
	return openHandsResult(o, metadata, extras, text)
}

func openHandsResult(o, metadata, extras rawjson.Object, text string) (*compactordv1.Message, error) {
	result := &compactordv1.ToolResult{}
	var err error
	if result.CallId, err = metadata.BoundedText("tool_call_id", maxID); err != nil {
		return nil, rawjson.In("tool_call_metadata", err)
	}
	if result.Name, err = metadata.BoundedText("function_name", maxName); err != nil {
		return nil, rawjson.In("tool_call_metadata", err)
	}
	if result.IsError, err = openHandsFailed(o, extras); err != nil {
		return nil, err
	}
	if text != "" {
		result.Parts = resultParts([]*compactordv1.Part{textPart(text)})
	}
	return &compactordv1.Message{
		Role:  compactordv1.Role_ROLE_TOOL,
		Parts: []*compactordv1.Part{{Kind: &compactordv1.Part_ToolResult{ToolResult: result}}},
	}, nil
}

// openHandsFailed reports whether a tool failed: by the observation's own field, or otherwise by the exit code.
func openHandsFailed(o, extras rawjson.Object) (bool, error) {
	if o.IsText("observation", "error") {
		return true, nil
	}
	if o.Has("success") {
		succeeded, err := o.Truth("success")
		return !succeeded, err
	}
	// -1 means that the command still runs.
	code := string(extras["exit_code"])
	return rawjson.KindOf(extras["exit_code"]) == rawjson.Number && code != "0" && code != "-1", nil
}
