package transcript

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// How much of an input is read to recognize it. All of that is held in memory.
const (
	recognizeLines = 64
	recognizeBytes = 1 << 20
)

// recognition finds the format of an input by its beginning, and consumes nothing of the input.
type recognition struct {
	in *lines
	// forced is the format that the caller set. Its id is empty where there is none.
	forced format
	// best is the first format of the table that said maybe, and by the object that showed it.
	best  int
	by    beginning
	found bool
	// marked reports that the line before announces a document.
	marked bool
}

// recognize returns the format, and the object that showed it.
func recognize(in *lines, forced format) (format, beginning, error) {
	first, err := in.first()
	switch {
	case errors.Is(err, io.EOF):
		return format{}, beginning{}, ErrEmpty
	case err != nil:
		return format{}, beginning{}, err
	}
	r := &recognition{in: in, forced: forced}
	if err := r.look(first == '['); err != nil {
		return format{}, beginning{}, err
	}
	switch {
	case !r.found:
		return format{}, beginning{}, r.failure()
	case forced.id != "":
		return forced, r.by, nil
	default:
		return formats()[r.best], r.by, nil
	}
}

// look reads the beginning until a format is found. An array is not read as a line, since the whole document can be
// one.
func (r *recognition) look(array bool) error {
	if array {
		return r.lookAtDocument(0)
	}
	at := 0
	for n := 0; n < recognizeLines; n++ {
		line, next, err := r.peekLine(at)
		if err != nil || next == at {
			return err
		}
		if o, _, err := parseLine(line); err == nil {
			if r.try(beginning{Object: o, line: true}) {
				return nil
			}
		} else if n == 0 || r.marked {
			if err := r.lookAtDocument(at); err != nil || r.found {
				return err
			}
		}
		r.marked = string(line) == jsonEventMark
		at = next
	}
	return nil
}

// lookAtDocument tries the formats on a document that can have several lines, or more than is read here.
func (r *recognition) lookAtDocument(at int) error {
	if err := r.fill(recognizeBytes); err != nil {
		return err
	}
	found := parseBeginning(r.buffered()[at:])
	for _, b := range found {
		if r.try(b) {
			return nil
		}
	}
	if len(found) == 0 && r.buffered()[at] == '[' {
		// The array is empty or broken. Read as the most common format, it gets a better error than that its format is
		// unknown.
		r.try(beginning{Object: rawjson.Object{"role": rawjson.Quote("user")}, array: true})
	}
	return nil
}

// try asks the formats about an object, and reports whether the format is found.
func (r *recognition) try(b beginning) bool {
	if r.forced.id != "" {
		r.by, r.found = b, true
		return r.forced.recognize(b) != no
	}
	for i, f := range formats() {
		switch f.recognize(b) {
		case yes:
			r.best, r.by, r.found = i, b, true
			return true
		case maybe:
			if !r.found || i < r.best {
				r.best, r.by, r.found = i, b, true
			}
		case no:
		}
	}
	return false
}

// failure returns why no format was found. Where the input looks like JSON, that is the error of its first broken line.
func (r *recognition) failure() error {
	line, _, err := r.peekLine(0)
	if err != nil || len(line) == 0 || line[0] != '{' {
		return errors.Join(err, unknownFormat(line))
	}
	if _, _, err = parseLine(line); err == nil || parseBeginning(r.buffered()) != nil {
		return unknownFormat(r.buffered())
	}
	return onLine(r.in.line+1, err)
}

func (r *recognition) buffered() []byte {
	// Peek never fails for what is buffered.
	b, _ := r.in.in.Peek(r.in.in.Buffered())
	return b
}

// fill reads until size bytes are buffered, or recognizeBytes, or the input ends.
func (r *recognition) fill(size int) error {
	size = min(size, recognizeBytes)
	if size > r.in.in.Size() {
		r.in.in = bufio.NewReaderSize(r.in.in, recognizeBytes)
	}
	if _, err := r.in.in.Peek(size); !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// peekLine returns the line at an offset, without its end, and the offset of the next. It reads no further than it
// needs, since the writer of the input can wait for our output.
func (r *recognition) peekLine(at int) (line []byte, next int, err error) {
	for searched := at; ; {
		b := r.buffered()
		if i := bytes.IndexByte(b[searched:], '\n'); i >= 0 {
			return trimSpace(b[at : searched+i]), searched + i + 1, nil
		}
		searched = len(b)
		if err := r.fill(searched + 1); err != nil {
			return nil, at, err
		}
		if b = r.buffered(); len(b) == searched {
			return trimSpace(b[at:]), searched, nil
		}
	}
}
