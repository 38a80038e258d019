package sdkcheck

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"google.golang.org/genai"

	"github.com/compactord/compactord/dialects"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// CheckBody reads the body of a request with its provider's SDK: the list as Check does, and all other fields.
func CheckBody(kind compactordv1.Dialect, body map[string]json.RawMessage) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	d, ok := dialects.For(kind)
	if !ok {
		return fmt.Errorf("no dialect %s", kind)
	}
	list, err := d.Split(raw)
	if err != nil {
		return err
	}
	if err := Check(kind, list); err != nil {
		return err
	}
	beside := maps.Clone(body)
	// Check has read these fields, and SDKs add `stream` to the fields of their types.
	for _, field := range []string{"messages", "system", "input", "instructions", "contents", "systemInstruction", "stream"} {
		delete(beside, field)
	}
	if kind == compactordv1.Dialect_DIALECT_GEMINI {
		return checkGeminiBody(beside)
	}
	rest, err := json.Marshal(beside)
	if err != nil {
		return err
	}
	return check(kind, rest, bodyReader(kind))
}

func bodyReader(kind compactordv1.Dialect) reader {
	switch kind {
	case compactordv1.Dialect_DIALECT_OPENAI_CHAT:
		return through[openai.ChatCompletionNewParams]
	case compactordv1.Dialect_DIALECT_OPENAI_RESPONSES:
		return through[responses.ResponseNewParams]
	default:
		return through[anthropic.MessageNewParams]
	}
}

// checkGeminiBody reads field by field, since Google's SDK has no type for a whole body.
func checkGeminiBody(body map[string]json.RawMessage) error {
	readers := map[string]reader{"generationConfig": throughKnown[genai.GenerationConfig], "tools": throughKnown[[]genai.Tool]}
	for _, field := range slices.Sorted(maps.Keys(body)) {
		read := readers[field]
		if read == nil {
			return fmt.Errorf("%s: is a field that the SDK does not send", field)
		}
		if err := check(compactordv1.Dialect_DIALECT_GEMINI, body[field], read); err != nil {
			return fmt.Errorf("%s: %w", field, err)
		}
	}
	return nil
}

// throughKnown is through for types that would ignore unknown fields.
func throughKnown[T any](element json.RawMessage) (json.RawMessage, error) {
	var value T
	decoder := json.NewDecoder(bytes.NewReader(element))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	return json.Marshal(value)
}
