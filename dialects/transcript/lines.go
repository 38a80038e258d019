package transcript

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// maxLine bounds a line, and a message of a JSON document. It is more than the largest part of a log (32 MiB), and less
// than what would exhaust memory.
const maxLine = 64 << 20

// bufferBytes is how much of an input is buffered. It is more only while the format is not recognized yet.
const bufferBytes = 64 << 10

var (
	errTooLong = errors.New("is longer than 64 MiB")
	errNotUTF8 = errors.New("is not valid UTF-8")
	errBroken  = errors.New("a broken line")

	brokenLine = leftOut("broken line", "broken lines")
)

// brokenError marks a line that a crash or a full disk can have left incomplete.
type brokenError struct{ error }

func (e brokenError) Unwrap() error { return e.error }

func (e brokenError) Is(target error) bool { return target == errBroken }

// lines reads an input line by line, without blank ones. All sources of one input share it, with the options and the
// notes.
type lines struct {
	in   *bufio.Reader
	buf  []byte
	line int // number of the line that was read last, from 1
	// limit bounds a line. It is maxLine except in tests.
	limit   int
	options options
	notes   *noteCounter
	// whole reports that a line was read as an object. broken is the error of the first line that was none.
	whole  bool
	broken error
}

func newLines(r io.Reader, o options) *lines {
	in := bufio.NewReaderSize(r, bufferBytes)
	// A byte order mark is no JSON, but Windows editors write it.
	if mark, err := in.Peek(3); err == nil && bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		_, _ = in.Discard(3)
	}
	return &lines{in: in, limit: maxLine, options: o, notes: &noteCounter{strict: o.strict}}
}

// first returns the first byte that is not white space, without consuming it.
func (l *lines) first() (byte, error) {
	for {
		b, err := l.in.ReadByte()
		if err != nil {
			return 0, err
		}
		if !isSpace(b) {
			return b, l.in.UnreadByte()
		}
		if b == '\n' {
			l.line++
		}
	}
}

// next returns the next line that is not blank, without its end and surrounding white space, or io.EOF. The bytes are
// valid until the next call.
func (l *lines) next() ([]byte, error) {
	for {
		line, err := l.read()
		if err != nil {
			return nil, err
		}
		if line = trimSpace(line); len(line) > 0 {
			return line, nil
		}
	}
}

// object returns the next line as an object, and its JSON, which is valid until the next call, or io.EOF. It skips and
// notes broken lines, unless the options are strict or there is no other line.
func (l *lines) object() (rawjson.Object, json.RawMessage, error) {
	for {
		line, err := l.next()
		switch {
		case errors.Is(err, io.EOF) && !l.whole && l.broken != nil:
			return nil, nil, ended(l.broken)
		case err != nil:
			return nil, nil, err
		}
		o, line, err := parseLine(line)
		if err == nil {
			l.whole = true
			return o, line, nil
		}
		err = onLine(l.line, err)
		if l.options.strict || !errors.Is(err, errBroken) {
			return nil, nil, err
		}
		if l.broken == nil {
			l.broken = err
		}
		l.notes.addAt(brokenLine, l.line)
	}
}

// parseLine reads an object. Its JSON is the line, with control characters escaped, since some tools do not escape
// them.
func parseLine(line []byte) (rawjson.Object, json.RawMessage, error) {
	if !utf8.Valid(line) {
		return nil, nil, brokenError{errNotUTF8}
	}
	o, err := rawjson.ParseObject(line)
	if err == nil {
		return o, line, nil
	}
	if json.Valid(line) {
		return nil, nil, err
	}
	if escaped := escapeControls(line); json.Valid(escaped) {
		o, err := rawjson.ParseObject(escaped)
		return o, escaped, err
	}
	return nil, nil, brokenError{err}
}

// escapeControls escapes the control characters in a line of JSON.
func escapeControls(line []byte) []byte {
	escaped := make([]byte, 0, len(line)+64)
	for _, b := range line {
		if b < ' ' && !isSpace(b) || b == '\t' {
			escaped = fmt.Appendf(escaped, "\\u%04x", b)
			continue
		}
		escaped = append(escaped, b)
	}
	return escaped
}

func (l *lines) read() ([]byte, error) {
	l.buf = l.buf[:0]
	for {
		piece, err := l.in.ReadSlice('\n')
		if len(l.buf)+len(piece) > l.limit {
			return nil, &LineError{Line: l.line + 1, Err: errTooLong}
		}
		l.buf = append(l.buf, piece...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err == nil, errors.Is(err, io.EOF) && len(l.buf) > 0:
			l.line++
			return l.buf, nil
		default:
			return nil, err
		}
	}
}

func trimSpace(line []byte) []byte { return bytes.Trim(line, " \t\r\n") }

// isSpace reports whether a byte is white space of JSON.
func isSpace(b byte) bool { return b == ' ' || b == '\t' || b == '\r' || b == '\n' }

// readToEnd passes on everything that read returns, up to io.EOF, for formats that must be read whole. It skips and
// notes what cannot be read, unless the options are strict.
func readToEnd[T any](r *noteCounter, read func() (T, error), take func(T) error) error {
	for {
		value, err := read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = take(value)
		}
		if err != nil && !r.skip(err) {
			return err
		}
	}
}

// entriesOfLine makes entries from a line, without its unreadable content, and sets their source position.
func entriesOfLine(
	r *noteCounter, raw json.RawMessage, line int, read func(json.RawMessage) ([]entry, error),
) (entries []entry, err error) {
	err = r.repair(raw, line, func(raw json.RawMessage) error {
		var err error
		entries, err = read(raw)
		return err
	})
	if err != nil {
		return nil, onLine(line, err)
	}
	for _, e := range entries {
		if e.message != nil {
			e.message.SourcePosition = position(line - 1)
		}
	}
	return entries, nil
}
