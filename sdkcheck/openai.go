package sdkcheck

import (
	"encoding/json"
	"errors"
	"reflect"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
)

var errNoVariant = errors.New("the SDK knows no such variant")

func chatMessage(element json.RawMessage) (json.RawMessage, error) {
	var message openai.ChatCompletionMessageParamUnion
	if err := json.Unmarshal(element, &message); err != nil {
		return nil, err
	}
	if variants(message) != 1 {
		return nil, errNoVariant
	}
	encoded, err := json.Marshal(message)
	if err != nil || message.OfTool == nil {
		return encoded, err
	}
	return withName(encoded, element)
}

// withName adds the name to a tool result. The API and its imitators accept it, and some of them demand it, but the SDK
// has no field for it.
func withName(encoded, element json.RawMessage) (json.RawMessage, error) {
	var original struct{ Name any }
	message := map[string]any{}
	if err := errors.Join(json.Unmarshal(element, &original), json.Unmarshal(encoded, &message)); err != nil {
		return nil, err
	}
	message["name"] = original.Name
	return json.Marshal(message)
}

func responsesItem(element json.RawMessage) (json.RawMessage, error) {
	var shape struct {
		Type, Role string
		Content    json.RawMessage
	}
	if err := json.Unmarshal(element, &shape); err != nil {
		return nil, err
	}
	// Three types of message share one discriminator, which can be missing. The SDK decodes only the first type.
	if shape.Type == "message" || shape.Type == "" && shape.Role != "" {
		switch asText := len(shape.Content) > 0 && shape.Content[0] == '"'; {
		case asText:
			return through[responses.EasyInputMessageParam](element)
		case shape.Role == "assistant":
			return through[responses.ResponseOutputMessageParam](element)
		default:
			return through[responses.ResponseInputItemMessageParam](element)
		}
	}
	var item responses.ResponseInputItemUnionParam
	if err := json.Unmarshal(element, &item); err != nil {
		return nil, err
	}
	if variants(item) != 1 {
		return nil, errNoVariant
	}
	return json.Marshal(item)
}

// through decodes into a type and encodes again.
func through[T any](element json.RawMessage) (json.RawMessage, error) {
	var message T
	if err := json.Unmarshal(element, &message); err != nil {
		return nil, err
	}
	return json.Marshal(message)
}

// variants counts the variants of a union that are set. Each exported field is one.
func variants(union any) int {
	v := reflect.ValueOf(union)
	set := 0
	for i := range v.NumField() {
		if v.Type().Field(i).IsExported() && !v.Field(i).IsZero() {
			set++
		}
	}
	return set
}
