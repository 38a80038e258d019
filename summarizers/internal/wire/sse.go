package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

var errLong = errors.New("an event is longer than an answer may be")

// event is the data of a server-sent event, or nil if it has none. The name of the event is not read, since the data of
// all providers contains it.
type event []byte

// decoder splits a stream into its events by the rules of the HTML standard: lines end in CR, LF or both, lines that
// begin with a colon are comments, and an event ends at an empty line. Beyond the standard, an event may also end with
// the stream.
type decoder struct {
	in *bufio.Reader
	// limit is the most bytes of an event. afterCR says that a line feed belongs to the line before.
	limit   int
	afterCR bool
	began   bool
}

func newDecoder(in io.Reader, limit int) *decoder {
	return &decoder{in: bufio.NewReader(in), limit: limit}
}

// next returns the next event that has data. At the end of the stream an event may come together with the error.
func (d *decoder) next() (event, error) {
	var e event
	for {
		line, err := d.line()
		if err != nil && len(line) == 0 {
			return e, err
		}
		if len(line) == 0 {
			if e != nil {
				return e, nil
			}
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		if string(name) == "data" {
			if e != nil {
				e = append(e, '\n')
			}
			e = append(e, bytes.TrimPrefix(value, []byte(" "))...)
			if e == nil {
				e = event{}
			}
		}
		switch {
		case len(e) > d.limit:
			return nil, errLong
		case err != nil:
			return e, err
		}
	}
}

// line returns the next line without its line end. The last part of the stream comes together with the error.
func (d *decoder) line() ([]byte, error) {
	var line []byte
	for {
		c, err := d.in.ReadByte()
		if err != nil {
			return line, err
		}
		isFeed := c == '\n' && d.afterCR
		d.afterCR = c == '\r'
		switch {
		case isFeed:
			continue
		case c == '\n', c == '\r':
			return d.withoutMark(line), nil
		}
		if line = append(line, c); len(line) > d.limit {
			return nil, errLong
		}
	}
}

// withoutMark removes a byte order mark from the stream's first line.
func (d *decoder) withoutMark(line []byte) []byte {
	if !d.began {
		d.began = true
		return bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	return line
}
