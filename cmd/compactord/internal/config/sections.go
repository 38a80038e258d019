package config

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// nodeOf returns the value of a key of the file, in which the order and the types of all values can be seen.
func nodeOf(key string, value any) (*yaml.Node, error) {
	var document yaml.Node
	text, err := yaml.Marshal(value)
	if err == nil {
		err = yaml.Unmarshal(text, &document)
	}
	if err != nil || len(document.Content) != 1 {
		return nil, fmt.Errorf("%s cannot be read", key)
	}
	return document.Content[0], nil
}

// decodeStrictly decodes the value of a key of the file. A key in it that is not known is an error; what says what it must
// hold.
func decodeStrictly(key, what string, value, into any) error {
	text, err := yaml.Marshal(value)
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("%s must hold %s: %w", key, what, withoutLines(err))
	}
	return nil
}
