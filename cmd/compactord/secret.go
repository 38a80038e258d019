package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
)

// secret is a key that nothing prints. It is behind a pointer, since package fmt does not ask the fields of a struct how
// they want to be printed.
type secret struct{ value *string }

const hiddenSecret = "[redacted]"

// String hides the secret.
func (secret) String() string { return hiddenSecret }

// GoString hides the secret.
func (secret) GoString() string { return hiddenSecret }

// Format hides the secret whatever the verb.
func (secret) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, hiddenSecret) }

// LogValue hides the secret.
func (secret) LogValue() slog.Value { return slog.StringValue(hiddenSecret) }

// MarshalText hides the secret in JSON and YAML.
//
//nolint:unparam // The interface has an error.
func (secret) MarshalText() ([]byte, error) { return []byte(hiddenSecret), nil }

// reveal returns the secret, for who is to be given it.
func (s secret) reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

// maxSecretBytes is more than any key has.
const maxSecretBytes = 64 << 10

// secretFromEnv reads a secret from a variable of the environment.
func secretFromEnv(name string) (secret, error) {
	value, set := os.LookupEnv(name)
	if !set {
		return secret{}, fmt.Errorf("the environment has no variable %s", name)
	}
	s, err := newSecret(value)
	if err != nil {
		return secret{}, fmt.Errorf("the variable %s %w", name, err)
	}
	return s, nil
}

// secretFromFile reads a secret from a file, which may end with a line break.
func secretFromFile(path string) (secret, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return secret{}, unreadable(path, err)
	}
	s, err := newSecret(string(content))
	if err != nil {
		return secret{}, fmt.Errorf("the file %s %w", path, err)
	}
	return s, nil
}

// newSecret takes what can stand in a header.
func newSecret(text string) (secret, error) {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return secret{}, errors.New("is empty")
	case len(text) > maxSecretBytes:
		return secret{}, errors.New("is too large for a key")
	case strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return secret{}, errors.New("holds more than one line")
	}
	return secret{&text}, nil
}
