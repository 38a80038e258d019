package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// callFields are the names of the fields with a call's id and its arguments. Its tool is in `name` everywhere.
type callFields struct{ id, arguments string }

// toolCalls parses the list of calls in a field.
func toolCalls(o rawjson.Object, field string, named callFields) ([]*compactordv1.Part, error) {
	raws, err := o.Elements(field)
	if err != nil {
		return nil, err
	}
	if len(raws) > maxParts {
		return nil, rawjson.In(field, errManyParts)
	}
	parts := make([]*compactordv1.Part, 0, len(raws))
	for i, raw := range raws {
		call, err := toolCall(raw, named)
		if err != nil {
			return nil, rawjson.In(field, rawjson.InElement(i, err))
		}
		parts = append(parts, &compactordv1.Part{Kind: &compactordv1.Part_ToolCall{ToolCall: call}})
	}
	return parts, nil
}

// toolCall parses a call. An invalid call has a text as arguments that is no JSON.
func toolCall(raw json.RawMessage, named callFields) (*compactordv1.ToolCall, error) {
	o, err := rawjson.ParseObject(raw)
	if err != nil {
		return nil, err
	}
	call := &compactordv1.ToolCall{}
	if call.Id, err = o.BoundedText(named.id, maxID); err != nil {
		return nil, err
	}
	if call.Name, err = toolName(o); err != nil {
		return nil, err
	}
	call.Arguments, err = arguments(rawjson.Object{"arguments": compacted(o[named.arguments])})
	return call, err
}

// toolResult makes the part for a tool result. The message has the call's id and tool beside the content.
func toolResult(o rawjson.Object, content []*compactordv1.Part, isError bool) ([]*compactordv1.Part, error) {
	if len(content) > maxResultParts {
		return nil, rawjson.In("content", errManyParts)
	}
	result := &compactordv1.ToolResult{Parts: resultParts(content), IsError: isError}
	var err error
	if result.CallId, err = o.BoundedText("tool_call_id", maxID); err != nil {
		return nil, err
	}
	if result.Name, err = o.BoundedText("name", maxName); err != nil {
		return nil, err
	}
	return []*compactordv1.Part{{Kind: &compactordv1.Part_ToolResult{ToolResult: result}}}, nil
}

// compacted returns a value without white space.
func compacted(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
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

// arguments returns a call's arguments as the model wrote them. Some tools store them decoded: then it returns their
// JSON unchanged.
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
