package dialects

import (
	"encoding/json"
	"errors"
	"fmt"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var errUnknownCall = errors.New("unknown type of tool call; known is function")

func openAIToolCalls(o object) ([]*compactordv1.Part, error) {
	raws, err := o.array("tool_calls")
	if err != nil {
		return nil, err
	}
	parts := make([]*compactordv1.Part, 0, len(raws))
	for i, raw := range raws {
		part, err := openAIToolCall(raw)
		if err != nil {
			return nil, in("tool_calls", inElement(i, err))
		}
		parts = append(parts, part)
	}
	return parts, nil
}

func openAIToolCall(raw json.RawMessage) (*compactordv1.Part, error) {
	o, err := parseObject(raw)
	if err != nil {
		return nil, err
	}
	if o.has("type") && !o.isText("type", "function") {
		return nil, in("type", errUnknownCall)
	}
	function, err := o.sub("function")
	if err != nil {
		return nil, err
	}
	if function == nil {
		return nil, in("function", errMissing)
	}
	call := &compactordv1.ToolCall{}
	if call.Id, err = o.boundedText("id", maxID); err != nil {
		return nil, err
	}
	if call.Name, err = toolName(function); err != nil {
		return nil, in("function", err)
	}
	if call.Arguments, err = arguments(function); err != nil {
		return nil, in("function", err)
	}
	// `index` is left over from a stream and says nothing that the order does not.
	attachments, err := openAIAttachments(o, "id", "type", "function", "index")
	return &compactordv1.Part{
		Kind:        &compactordv1.Part_ToolCall{ToolCall: call},
		Attachments: attachments,
	}, err
}

func toolName(o object) (string, error) {
	name, err := o.demandText("name")
	if err != nil {
		return "", err
	}
	switch {
	case name == "":
		return "", in("name", errEmpty)
	case len(name) > maxName:
		return "", in("name", tooLarge(len(name), maxName))
	default:
		return name, nil
	}
}

// arguments returns a call's arguments as the model wrote them. Some tools store them parsed: then their JSON as it
// stands in the file.
func arguments(o object) (string, error) {
	raw := o["arguments"]
	switch kindOf(raw) {
	case kindMissing, kindNull:
		return "", nil
	case kindString:
		return o.boundedText("arguments", maxText)
	case kindObject, kindArray:
		if len(raw) > maxText {
			return "", in("arguments", tooLarge(len(raw), maxText))
		}
		return string(raw), nil
	default:
		return "", in("arguments", fmt.Errorf("must be a string or an object, is %s", kindOf(raw)))
	}
}
