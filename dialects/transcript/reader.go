package transcript

import (
	"errors"
	"io"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Format is a shape of transcript that a Reader reads.
type Format int

const (
	// OpenAILines is JSON Lines of OpenAI-style messages.
	OpenAILines Format = iota + 1
	// OpenAIDocument is one JSON document of OpenAI-style messages: an array, or an object that has them in `messages`.
	OpenAIDocument
	// PiSession is a session file of the coding agent Pi.
	PiSession
)

// String returns the format's name for people.
func (f Format) String() string {
	switch f {
	case OpenAILines:
		return "JSONL of OpenAI-style messages"
	case OpenAIDocument:
		return "JSON document of OpenAI-style messages"
	case PiSession:
		return "Pi session file"
	default:
		return "unknown format"
	}
}

// source reads the messages of one format. Its errors carry their line.
type source interface {
	next() (*compactordv1.Message, error)
}

// Reader reads the messages of a transcript one by one. It is not safe for concurrent use.
type Reader struct {
	format  Format
	source  source
	remarks *remarks
	err     error
}

// Open recognizes a transcript by its beginning. It reads no further than it needs for that, and r need not be able to
// seek. It returns ErrEmpty where there is nothing but white space, ErrUnknownFormat where the beginning is of another
// kind, a *LineError where it is broken, and the error of r where reading failed.
func Open(r io.Reader) (*Reader, error) {
	return open(newLines(r))
}

func open(in *lines) (*Reader, error) {
	r := &Reader{remarks: &remarks{}}
	if err := r.recognize(in); err != nil {
		return nil, err
	}
	return r, nil
}

// Format returns what the transcript was recognized as.
func (r *Reader) Format() Format { return r.format }

// Next returns the next message, or io.EOF at the end of the transcript. What is wrong with the input is a *LineError.
// After an error Next returns the same error again.
//
// Every message has origin IMPORT, or CONTINUE if it is one of role USER that the user did not write. Its
// source_position counts from 0: lines in JSON Lines, elements in a document, entries behind the header in a Pi session
// file.
func (r *Reader) Next() (*compactordv1.Message, error) {
	if r.err != nil {
		return nil, r.err
	}
	m, err := r.source.next()
	if err != nil {
		r.err = err
		return nil, err
	}
	return m, nil
}

// ReadAll returns all messages that are left.
func (r *Reader) ReadAll() ([]*compactordv1.Message, error) {
	var messages []*compactordv1.Message
	for {
		m, err := r.Next()
		if errors.Is(err, io.EOF) {
			return messages, nil
		}
		if err != nil {
			return nil, err
		}
		messages = append(messages, m)
	}
}

// Notes returns what was left out or changed so far. It is complete once Next has returned io.EOF.
func (r *Reader) Notes() []Note { return r.remarks.notes() }
