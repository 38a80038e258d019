package config

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"sync"

	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/service/trusted"
)

// secret is an API key that is never printed. It is behind a pointer, since package fmt does not call the methods of
// unexported fields.
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
func (secret) MarshalText() ([]byte, error) { return []byte(hiddenSecret), nil }

// reveal returns the secret, for the requests to the provider.
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
	// One byte more than a key may have shows that the file is too large.
	content, err := trusted.Read(path, maxSecretBytes+1)
	if err != nil {
		return secret{}, terminal.Unreadable(path, err)
	}
	s, err := newSecret(string(content))
	if err != nil {
		return secret{}, fmt.Errorf("the file %s %w", path, err)
	}
	return s, nil
}

// keyPrefix matches the beginnings of providers' keys.
var keyPrefix = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:sk-|sk_|pk-|rk_|gsk_|xai-|AIza|AKIA|hf_|gh[a-z]_|github_pat_|glpat-|tvly-|Bearer )`)
})

// minKeyBytes is a length that almost every key has.
const minKeyBytes = 20

// looksLikeKey says whether a text looks like a key and not like the name of a variable or a file.
func looksLikeKey(text string) bool {
	if keyPrefix().MatchString(text) {
		return true
	}
	return len(text) >= minKeyBytes && !strings.ContainsAny(text, `/\.`) && strings.ContainsAny(text, "0123456789") &&
		strings.ToUpper(text) != text && strings.ToLower(text) != text
}

// newSecret accepts what an HTTP header can hold.
func newSecret(text string) (secret, error) {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return secret{}, errors.New("is empty")
	case len(text) > maxSecretBytes:
		return secret{}, errors.New("is too large for a key")
	case strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return secret{}, errors.New("holds more than one line")
	case strings.HasPrefix(text, "\ufeff"):
		return secret{}, errors.New("begins with a byte order mark")
	case strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }):
		return secret{}, errors.New("holds blanks or characters beyond ASCII")
	}
	return secret{&text}, nil
}
