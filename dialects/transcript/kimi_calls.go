package transcript

import (
	"encoding/json"
	"errors"

	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var errKimiCall = errors.New("unknown type of tool call; known is function")

// kimiToolCalls parses the calls of a message, which have OpenAI's shape. The dialect is not used, for two reasons: it
// reads whole messages with notes for writing the same JSON again, which no request needs here. And a call of an
// unknown type is an error here, not a part that a request could accept.
func kimiToolCalls(o rawjson.Object) ([]*compactordv1.Part, error) {
	raws, err := o.Elements("tool_calls")
	if err != nil {
		return nil, err
	}
	parts := make([]*compactordv1.Part, 0, len(raws))
	for i, raw := range raws {
		part, err := kimiToolCall(raw)
		if err != nil {
			return nil, rawjson.In("tool_calls", rawjson.InElement(i, err))
		}
		parts = append(parts, part)
	}
	return parts, nil
}

func kimiToolCall(raw json.RawMessage) (*compactordv1.Part, error) {
	o, err := rawjson.ParseObject(raw)
	if err != nil {
		return nil, err
	}
	if o.Has("type") && !o.IsText("type", "function") {
		return nil, rawjson.In("type", errKimiCall)
	}
	function, err := o.Sub("function")
	if err != nil {
		return nil, err
	}
	if function == nil {
		return nil, rawjson.In("function", rawjson.ErrMissing)
	}
	call := &compactordv1.ToolCall{}
	if call.Id, err = o.BoundedText("id", maxID); err != nil {
		return nil, err
	}
	if call.Name, err = toolName(function); err != nil {
		return nil, rawjson.In("function", err)
	}
	if call.Arguments, err = arguments(function); err != nil {
		return nil, rawjson.In("function", err)
	}
	// `index` comes from a stream. The order of the calls says the same.
	attachments, err := openAIAttachments(o, "id", "type", "function", "index")
	return &compactordv1.Part{
		Kind:        &compactordv1.Part_ToolCall{ToolCall: call},
		Attachments: attachments,
	}, err
}
