package transcript

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// How far an input is looked at to recognize it. All of that is held in memory.
const (
	recognizeLines = 64
	recognizeBytes = 1 << 20
)

// recognition finds the format of an input by its beginning, and leaves the input unread.
type recognition struct {
	in *lines
	// forced is the format that was asked for; its id is empty where none was.
	forced format
	// best is the first format of the table that may be it, and by what.
	best  int
	by    beginning
	found bool
	// marked says that the line before announces a document.
	marked bool
}

// recognize returns the format, and the object that told it.
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

// look goes through the beginning until a format is found. An array is not read as a line: the whole document may be one.
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
			if r.judge(beginning{Object: o, line: true}) {
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

// lookAtDocument judges what begins here as a document that may go on over several lines, or beyond what is looked at.
func (r *recognition) lookAtDocument(at int) error {
	if err := r.fill(recognizeBytes); err != nil {
		return err
	}
	found := parseBeginning(r.buffered()[at:])
	for _, b := range found {
		if r.judge(b) {
			return nil
		}
	}
	if len(found) == 0 && r.buffered()[at] == '[' {
		// An array that is empty or broken. Whoever reads it as the most common format tells more than that it is unknown.
		r.judge(beginning{Object: rawjson.Object{"role": rawjson.Quote("user")}, array: true})
	}
	return nil
}

// judge asks the formats, and says whether it is decided.
func (r *recognition) judge(b beginning) bool {
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

// failure says why nothing was found: by the first line that is broken where it looks like JSON at all.
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
	// What is buffered can always be peeked at.
	b, _ := r.in.in.Peek(r.in.in.Buffered())
	return b
}

// fill reads on until so many bytes are buffered, or as many as are looked at, or the input ends.
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

// peekLine returns the line at an offset, without its end, and the offset of the next. It reads no further than it needs,
// since whoever writes the input may wait for what is made of it.
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
