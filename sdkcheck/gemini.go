package sdkcheck

import (
	"bytes"
	"encoding/json"

	"google.golang.org/genai"
)

// unsigned replaces a signature that the API demands and that does not exist. It is base64 of the other alphabet, which
// the API accepts and Go does not.
const (
	unsigned       = `"skip_thought_signature_validator"`
	unsignedForSDK = `"skip/thought/signature/validator"`
)

func geminiContent(element json.RawMessage) (json.RawMessage, error) {
	var content genai.Content
	element = bytes.ReplaceAll(element, []byte(unsigned), []byte(unsignedForSDK))
	decoder := json.NewDecoder(bytes.NewReader(element))
	// These types are structs of all variants, and would ignore unknown fields.
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&content); err != nil {
		return nil, err
	}
	encoded, err := json.Marshal(content)
	return bytes.ReplaceAll(encoded, []byte(unsignedForSDK), []byte(unsigned)), err
}
