package sdkcheck

import (
	"bytes"
	"encoding/json"

	"google.golang.org/genai"
)

func geminiContent(element json.RawMessage) (json.RawMessage, error) {
	var content genai.Content
	decoder := json.NewDecoder(bytes.NewReader(element))
	// These types are structs of all variants, and would pass over what they do not know.
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&content); err != nil {
		return nil, err
	}
	return json.Marshal(content)
}
