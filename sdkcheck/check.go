package sdkcheck

import (
	"encoding/json"
	"fmt"

	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// reader decodes one element of a list into an SDK's type and encodes it again. It fails where the SDK's type has no
// variant for the element.
type reader func(element json.RawMessage) (json.RawMessage, error)

// Check reads a rendered list with its provider's SDK. It returns an error that says where the SDK refuses the list or
// loses something.
func Check(kind compactordv1.Dialect, list *dialect.List) error {
	read, readSystem := readers(kind)
	if read == nil {
		return fmt.Errorf("no SDK for %s", kind)
	}
	for i, element := range list.System {
		if err := check(kind, element, readSystem); err != nil {
			return fmt.Errorf("system %d: %w", i, err)
		}
	}
	for i, element := range list.Messages {
		if err := check(kind, element, read); err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
	}
	return nil
}

func readers(kind compactordv1.Dialect) (message, system reader) {
	switch kind {
	case compactordv1.Dialect_DIALECT_OPENAI_CHAT:
		return chatMessage, nil
	case compactordv1.Dialect_DIALECT_OPENAI_RESPONSES:
		return responsesItem, text
	case compactordv1.Dialect_DIALECT_ANTHROPIC:
		return anthropicMessage, anthropicSystem
	case compactordv1.Dialect_DIALECT_GEMINI:
		return geminiContent, geminiContent
	default:
		return nil, nil
	}
}

// text reads an element that is a plain string in the SDK.
func text(element json.RawMessage) (json.RawMessage, error) {
	var s string
	if err := json.Unmarshal(element, &s); err != nil {
		return nil, err
	}
	return json.Marshal(s)
}

func check(kind compactordv1.Dialect, element json.RawMessage, read reader) error {
	want, err := readable(element, unknown[kind])
	if err != nil {
		return err
	}
	input, err := json.Marshal(want)
	if err != nil {
		return err
	}
	encoded, err := read(input)
	if err != nil {
		return err
	}
	have, err := readable(encoded, nil)
	if err != nil {
		return err
	}
	return lost("", want, have)
}
