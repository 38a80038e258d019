package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// jsonEventMark precedes each event that `openhands --headless --json` prints.
const jsonEventMark = "--JSON Event--"

var noEvent = leftOut("line that is no event", "lines that are no events")

// eventDocuments feeds events as OpenHands writes and prints them: one per line, or each on several lines, with other
// output of the program between them.
type eventDocuments struct {
	in *lines
	// ahead is a line that was already read, and begins the next event.
	ahead []byte
	// at is the line on which the last event begins.
	at int
}

func (f *eventDocuments) on(err error) error { return onLine(f.at, err) }

// next returns the next event. An event that is cut off ends where another begins.
func (f *eventDocuments) next() (json.RawMessage, error) {
	for {
		line, err := f.line()
		if err != nil {
			return nil, err
		}
		if len(line) == 0 || line[0] != '{' {
			f.in.notes.addMany(noEvent, boolCount(len(trimSpace(line)) > 0 && string(trimSpace(line)) != jsonEventMark))
			continue
		}
		f.at = f.in.line
		event, err := f.rest(bytes.Clone(line))
		if err != nil {
			return nil, err
		}
		if json.Valid(event) {
			return event, nil
		}
		_, err = rawjson.ParseObject(event)
		if f.in.options.strict {
			return nil, f.on(err)
		}
		f.in.notes.addAt(brokenLine, f.at)
	}
}

// line returns the next line, unchanged.
func (f *eventDocuments) line() ([]byte, error) {
	if ahead := f.ahead; ahead != nil {
		f.ahead = nil
		return ahead, nil
	}
	return f.in.read()
}

// rest reads to the end of an event, by its brackets and quotes.
func (f *eventDocuments) rest(event []byte) ([]byte, error) {
	var b brackets
	for b.count(event); b.open(); {
		line, err := f.in.read()
		if errors.Is(err, io.EOF) {
			return event, nil
		}
		if err != nil {
			return nil, err
		}
		if len(line) > 0 && line[0] == '{' || string(trimSpace(line)) == jsonEventMark {
			f.ahead = bytes.Clone(line)
			return event, nil
		}
		if len(event)+len(line) > f.in.limit {
			return nil, &LineError{Line: f.at, Err: errTooLong}
		}
		event = append(event, line...)
		b.count(line)
	}
	return trimSpace(event), nil
}

// brackets counts the open brackets in JSON that comes in pieces.
type brackets struct {
	depth           int
	quoted, escaped bool
}

func (b *brackets) open() bool { return b.depth > 0 || b.quoted }

func (b *brackets) count(piece []byte) {
	for _, c := range piece {
		switch {
		case b.escaped:
			b.escaped = false
		case b.quoted && c == '\\':
			b.escaped = true
		case c == '"':
			b.quoted = !b.quoted
		case b.quoted:
		case c == '{' || c == '[':
			b.depth++
		case c == '}' || c == ']':
			b.depth--
		}
	}
}
