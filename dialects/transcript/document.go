package transcript

import (
	"encoding/json"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

var (
	errOpen     = errors.New("the document breaks off here")
	errTrailing = errors.New("something follows the end of the document; only one document is read")
	errShape    = errors.New("is not what JSON has in this place")
)

// document reads one JSON document value by value, so that only one message of it is in memory.
type document struct {
	in  *lines
	buf []byte
	at  int // line on which the value in buf begins
}

// read returns the next byte. It counts the ends of lines in in.line.
func (d *document) read() (byte, error) {
	b, err := d.in.in.ReadByte()
	if errors.Is(err, io.EOF) {
		return 0, d.wrong(errOpen)
	}
	if b == '\n' {
		d.in.line++
	}
	return b, err
}

// token returns the next byte that is not white space.
func (d *document) token() (byte, error) {
	for {
		b, err := d.read()
		if err != nil || !isSpace(b) {
			return b, err
		}
	}
}

func (d *document) wrong(err error) error { return &LineError{Line: d.in.line + 1, Err: err} }

// expect reads one token, and fails where it is another one.
func (d *document) expect(want byte) error {
	b, err := d.token()
	if err == nil && b != want {
		err = d.wrong(errShape)
	}
	return err
}

// separator reads the token between two values, and reports whether another value follows.
func (d *document) separator(end byte) (more bool, err error) {
	b, err := d.token()
	switch {
	case err != nil:
		return false, err
	case b == ',':
		return true, nil
	case b == end:
		return false, nil
	default:
		return false, d.wrong(errShape)
	}
}

// end fails where anything but white space follows.
func (d *document) end() error {
	_, err := d.in.first()
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	default:
		return d.wrong(errTrailing)
	}
}

// value reads one value that begins with the byte b. The bytes are valid until the next call.
func (d *document) value(b byte) (json.RawMessage, error) {
	d.at = d.in.line + 1
	d.buf = d.buf[:0]
	if err := d.collect(b); err != nil {
		return nil, err
	}
	if !utf8.Valid(d.buf) {
		return nil, &LineError{Line: d.at, Err: errNotUTF8, canContinue: true}
	}
	if !json.Valid(d.buf) {
		return nil, &LineError{Line: d.at, Err: rawjson.ErrNotJSON, canContinue: true}
	}
	return d.buf, nil
}

// collect finds the end of a value by its brackets and quotes alone. Its content is checked later.
func (d *document) collect(b byte) error {
	depth, quoted, escaped := 0, false, false
	for {
		if len(d.buf) == d.in.limit {
			return &LineError{Line: d.at, Err: errTooLong}
		}
		d.buf = append(d.buf, b)
		switch {
		case escaped:
			escaped = false
		case quoted && b == '\\':
			escaped = true
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == '{' || b == '[':
			depth++
		case b == '}' || b == ']':
			depth--
		}
		if depth <= 0 && !quoted && d.ended(b) {
			return nil
		}
		var err error
		if b, err = d.read(); err != nil {
			// The value breaks off, so the error names the line on which it began.
			return d.cutOff(err)
		}
	}
}

// ended reports whether a value outside of all brackets ends before or with the byte b. Numbers and names have no end
// mark.
func (d *document) ended(b byte) bool {
	if b == '"' || b == '}' || b == ']' {
		return true
	}
	next, err := d.in.in.Peek(1)
	return err != nil || isSpace(next[0]) || next[0] == ',' || next[0] == ']' || next[0] == '}'
}

func (d *document) cutOff(err error) error {
	if errors.Is(err, errOpen) {
		return &LineError{Line: d.at, Err: rawjson.ErrCutOff}
	}
	return err
}
