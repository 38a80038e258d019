package transcript

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var errUnknownCall = errors.New("unknown type of tool call; known is function")

func openAIToolCalls(o rawjson.Object) ([]*compactordv1.Part, error) {
	raws, err := o.Elements("tool_calls")
	if err != nil {
		return nil, err
	}
	parts := make([]*compactordv1.Part, 0, len(raws))
	for i, raw := range raws {
		part, err := openAIToolCall(raw)
		if err != nil {
			return nil, rawjson.In("tool_calls", rawjson.InElement(i, err))
		}
		parts = append(parts, part)
	}
	return parts, nil
}

func openAIToolCall(raw json.RawMessage) (*compactordv1.Part, error) {
	o, err := rawjson.ParseObject(raw)
	if err != nil {
		return nil, err
	}
	if o.Has("type") && !o.IsText("type", "function") {
		return nil, rawjson.In("type", errUnknownCall)
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
	// `index` is left over from a stream and says nothing that the order does not.
	attachments, err := openAIAttachments(o, "id", "type", "function", "index")
	return &compactordv1.Part{
		Kind:        &compactordv1.Part_ToolCall{ToolCall: call},
		Attachments: attachments,
	}, err
}

func toolName(o rawjson.Object) (string, error) {
	name, err := o.DemandText("name")
	if err != nil {
		return "", err
	}
	switch {
	case name == "":
		return "", rawjson.In("name", rawjson.ErrEmpty)
	case len(name) > maxName:
		return "", rawjson.In("name", rawjson.TooLarge(len(name), maxName))
	default:
		return name, nil
	}
}

// arguments returns a call's arguments as the model wrote them. Some tools store them parsed: then their JSON as it
// stands in the file.
func arguments(o rawjson.Object) (string, error) {
	raw := o["arguments"]
	switch rawjson.KindOf(raw) {
	case rawjson.Missing, rawjson.Null:
		return "", nil
	case rawjson.String:
		return o.BoundedText("arguments", maxText)
	case rawjson.ObjectKind, rawjson.Array:
		if len(raw) > maxText {
			return "", rawjson.In("arguments", rawjson.TooLarge(len(raw), maxText))
		}
		return string(raw), nil
	default:
		return "", rawjson.In("arguments", fmt.Errorf("must be a string or an object, is %s", rawjson.KindOf(raw)))
	}
}
