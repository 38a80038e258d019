package inspect

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/compactord/compactord/summarizers/redaction"
)

// redacter replaces secrets in values of JSON.
type redacter struct {
	replace func(text string) string
	// known are the texts so far: most are in a file several times.
	known map[string]string
	// changed says that a text had a secret since it was last reset.
	changed bool
}

// redact replaces secrets in all texts that the file holds, and returns in how many. Placeholders are those of the
// session's summaries.
func (h *held) redact(ctx context.Context) (replaced uint32, err error) {
	by := redaction.New(h.uid)
	r := &redacter{replace: by.Within(ctx), known: make(map[string]string)}
	h.Session = r.value(h.Session)
	for _, list := range [][]any{h.Log, h.Records, h.Messages} {
		for i, value := range list {
			list[i] = r.value(value)
		}
	}
	for i := range h.Views {
		h.Views[i].Report, h.Views[i].ViewReport = r.value(h.Views[i].Report), r.value(h.Views[i].ViewReport)
	}
	for _, request := range h.Requests {
		for _, list := range [][]string{request.System, request.Messages} {
			for i, element := range list {
				if list[i], err = r.json(element); err != nil {
					return 0, err
				}
			}
		}
		request.Error = r.text(request.Error)
	}
	h.name = r.text(h.name)
	if err := context.Cause(ctx); err != nil {
		return 0, err
	}
	return by.Count(), nil
}

// value returns a value of JSON with the secrets in its texts replaced, also in the names of its fields, which a tool may
// have chosen.
func (r *redacter) value(value any) any {
	switch v := value.(type) {
	case string:
		return r.text(v)
	case []any:
		for i := range v {
			v[i] = r.value(v[i])
		}
		return v
	case map[string]any:
		redacted := make(map[string]any, len(v))
		for name, field := range v {
			redacted[r.text(name)] = r.value(field)
		}
		return redacted
	default:
		return value
	}
}

// json returns the JSON of an element of a request with the secrets in its texts replaced. Apart from these it stays as
// it was written, as far as that is possible.
func (r *redacter) json(element string) (string, error) {
	// The arguments of a call can be fields of it, and the name of a field says that its value is a secret.
	if whole := r.text(element); json.Valid([]byte(whole)) {
		element = whole
	}
	decoder := json.NewDecoder(strings.NewReader(element))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return "", err
	}
	r.changed = false
	value = r.value(value)
	if !r.changed {
		return element, nil
	}
	var redacted strings.Builder
	encoder := json.NewEncoder(&redacted)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return strings.TrimSuffix(redacted.String(), "\n"), err
}

func (r *redacter) text(text string) string {
	redacted, known := r.known[text]
	if !known {
		redacted = r.replace(text)
		r.known[text] = redacted
	}
	r.changed = r.changed || redacted != text
	return redacted
}
