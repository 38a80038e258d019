package transcript

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"unicode/utf8"
)

// maxLine bounds a line, and a message of a JSON document: more than the largest part that a log takes (32 MiB), less
// than what would exhaust memory.
const maxLine = 64 << 20

var (
	errTooLong = errors.New("is longer than 64 MiB")
	errNotUTF8 = errors.New("is not valid UTF-8")
)

// lines reads an input line by line, blank ones left out.
type lines struct {
	in   *bufio.Reader
	buf  []byte
	line int // number of the line that was read last, from 1
	// limit bounds a line; maxLine outside of tests.
	limit int
}

func newLines(r io.Reader) *lines {
	in := bufio.NewReaderSize(r, 64<<10)
	// A byte order mark is no part of JSON, but Windows editors write it.
	if mark, err := in.Peek(3); err == nil && bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		_, _ = in.Discard(3)
	}
	return &lines{in: in, limit: maxLine}
}

// first returns the first byte that is not white space, and leaves it there to be read.
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
		line = bytes.TrimFunc(line, func(r rune) bool { return r < 0x80 && isSpace(byte(r)) })
		if len(line) == 0 {
			continue
		}
		if !utf8.Valid(line) {
			return nil, &LineError{Line: l.line, Err: errNotUTF8}
		}
		return line, nil
	}
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

// isSpace says whether a byte is white space of JSON.
func isSpace(b byte) bool { return b == ' ' || b == '\t' || b == '\r' || b == '\n' }
