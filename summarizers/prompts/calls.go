package prompts

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// calls writes down the calls of a message, as name(field=value, field=value), one behind the other.
func (s *scribe) calls(m *compactordv1.Message) string {
	var list []string
	for _, p := range m.GetParts() {
		if call := p.GetToolCall(); call != nil {
			list = append(list, s.label(call.GetName())+"("+s.arguments(call.GetArguments())+")")
		}
	}
	return strings.Join(list, "; ")
}

// arguments writes down the fields of an object, and all else as the agent wrote it. Strings are redacted as the tool
// reads them, and the whole once more: a name can tell that its value is a secret.
func (s *scribe) arguments(arguments string) string {
	text, ok := s.fields(arguments)
	if !ok {
		text = strings.TrimSpace(arguments)
	}
	c := cutting{inline: true, tells: tellsError}
	return c.to(s.redact(text), s.input.ToolArgumentChars)
}

// fields writes down an object's fields; false where the text is no object.
func (s *scribe) fields(arguments string) (string, bool) {
	d := json.NewDecoder(strings.NewReader(arguments))
	d.UseNumber()
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return "", strings.TrimSpace(arguments) == ""
	}
	w := valueWriter{decoder: d, redact: s.redact}
	for d.More() {
		if w.b.Len() > 0 {
			w.b.WriteString(", ")
		}
		if w.name("=") != nil || w.value() != nil {
			return "", false
		}
	}
	if _, err := d.Token(); err != nil {
		return "", false
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return "", false
	}
	return w.b.String(), true
}

// valueWriter writes JSON anew, in its order, without the white space and the escapes that JSON can do without.
type valueWriter struct {
	decoder *json.Decoder
	redact  func(string) string
	b       strings.Builder
	depth   int
}

// maxDepth bounds how deep values are read that models make up.
const maxDepth = 100

var errSyntax = errors.New("not JSON")

// name writes the name of a field.
func (w *valueWriter) name(after string) error {
	token, err := w.decoder.Token()
	name, ok := token.(string)
	if err != nil || !ok {
		return errSyntax
	}
	if after == "=" && isWord(name) {
		w.b.WriteString(name)
	} else {
		w.text(name)
	}
	w.b.WriteString(after)
	return nil
}

// value writes a value, and all that it holds.
func (w *valueWriter) value() error {
	token, err := w.decoder.Token()
	if err != nil {
		return errSyntax
	}
	switch v := token.(type) {
	case json.Delim:
		return w.nested(v)
	case string:
		w.text(w.redact(v))
	case json.Number:
		w.b.WriteString(v.String())
	case bool:
		if v {
			w.b.WriteString("true")
		} else {
			w.b.WriteString("false")
		}
	case nil:
		w.b.WriteString("null")
	}
	return nil
}

// nested writes what stands in brackets.
func (w *valueWriter) nested(open json.Delim) error {
	if w.depth++; w.depth > maxDepth {
		return errSyntax
	}
	defer func() { w.depth-- }()
	w.b.WriteString(open.String())
	for first := true; w.decoder.More(); first = false {
		if !first {
			w.b.WriteString(",")
		}
		if open == '{' {
			if err := w.name(":"); err != nil {
				return err
			}
		}
		if err := w.value(); err != nil {
			return err
		}
	}
	end, err := w.decoder.Token()
	delim, ok := end.(json.Delim)
	if err != nil || !ok {
		return errSyntax
	}
	w.b.WriteString(delim.String())
	return nil
}

// text writes a string of JSON.
func (w *valueWriter) text(text string) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(text) == nil {
		w.b.Write(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
	}
}

// isWord says whether the name of a field can stand as it is.
func isWord(name string) bool {
	for i := 0; i < len(name); i++ {
		c := name[i]
		if c != '_' && c != '-' && c != '.' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return name != ""
}
