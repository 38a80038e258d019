package prompts

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// calls returns the tool calls of a message, each as name(field=value, field=value), separated by semicolons.
func (mw *messageWriter) calls(m *compactordv1.Message) string {
	var list []string
	for _, p := range m.GetParts() {
		if call := p.GetToolCall(); call != nil {
			list = append(list, mw.label(call.GetName())+"("+mw.arguments(call.GetArguments())+")")
		}
	}
	return strings.Join(list, "; ")
}

// arguments returns the fields of an object, or the unchanged text if it is no object. Each string is redacted as the
// tool reads it, and then the whole again, since a field's name can show that its value is a secret.
func (mw *messageWriter) arguments(arguments string) string {
	text, ok := mw.fields(arguments)
	if !ok {
		text = strings.TrimSpace(arguments)
	}
	c := cutting{inline: true, notable: isErrorLine}
	return c.to(mw.redact(text), mw.input.ToolArgumentChars)
}

// fields returns the fields of an object. It returns false if the text is no object.
func (mw *messageWriter) fields(arguments string) (string, bool) {
	d := json.NewDecoder(strings.NewReader(arguments))
	d.UseNumber()
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return "", strings.TrimSpace(arguments) == ""
	}
	w := valueWriter{decoder: d, redact: mw.redact}
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

// valueWriter rewrites JSON in its own order, without white space and unnecessary escapes.
type valueWriter struct {
	decoder *json.Decoder
	redact  func(string) string
	b       strings.Builder
	depth   int
}

// maxDepth limits the nesting of values, since models invent them.
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

// value writes a value with everything in it.
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

// nested writes an array or an object.
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

// text writes a JSON string.
func (w *valueWriter) text(text string) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(text) == nil {
		w.b.Write(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
	}
}

// isWord says whether the name of a field needs no quotes.
func isWord(name string) bool {
	for i := 0; i < len(name); i++ {
		c := name[i]
		if c != '_' && c != '-' && c != '.' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return name != ""
}
