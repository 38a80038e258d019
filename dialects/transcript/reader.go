package transcript

import (
	"errors"
	"fmt"
	"io"

	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// entry is what a source holds: a message or a record, never both.
type entry struct {
	message *compactordv1.Message
	// record has no after_messages yet. Its first_kept_index counts the source's messages from 0; what is kept may be yet
	// to come.
	record *compactordv1.ImportedRecord
}

// source reads the entries of one format, and then returns io.EOF. Its other errors carry their line.
type source interface {
	next() (entry, error)
	// unit says what source_position counts.
	unit() unit
}

// unit is what a position in a file counts.
type unit string

const (
	unitLine    unit = "line"
	unitElement unit = "element"
	unitEntry   unit = "entry"
)

// Reader reads the messages of a transcript one by one. It is not safe for concurrent use.
type Reader struct {
	format  Format
	source  source
	remarks *remarks
	records records
	files   *files // nil where the input is not ours
	err     error
}

// Open recognizes a transcript by its beginning. It reads no further than it needs for that, at most 64 lines or 1 MiB,
// and r need not be able to seek. It returns ErrEmpty where there is nothing but white space, ErrUnknownFormat where the
// beginning is of another kind, a *LineError where it is broken, a *SessionsError where it holds several sessions and
// none was selected, and the error of r where reading failed. Some of these come from Next only.
func Open(r io.Reader, opts ...Option) (*Reader, error) {
	return open(newLines(r, optionsOf(opts)))
}

// OpenAs reads a transcript of a format that is known, like Open with the option As.
func OpenAs(r io.Reader, id Format, opts ...Option) (*Reader, error) {
	o := optionsOf(opts)
	o.format = id
	return open(newLines(r, o))
}

func open(in *lines) (*Reader, error) {
	var forced format
	if id := in.options.format; id != "" {
		var err error
		if forced, err = formatOf(id); err != nil {
			return nil, err
		}
	}
	f, by, err := recognize(in, forced)
	if err != nil {
		return nil, err
	}
	if n := in.options.session; n > 1 && !f.holdsSeveral() {
		return nil, &SessionsError{Count: 1, Selected: n}
	}
	s, err := f.open(in, by)
	if err != nil {
		return nil, err
	}
	return &Reader{format: f.id, source: s, remarks: in.remarks}, nil
}

// Format returns what the transcript was recognized as.
func (r *Reader) Format() Format { return r.format }

// Place says where in the file the message with a source_position is, such as `line 8`.
func (r *Reader) Place(position uint32) string {
	u := r.source.unit()
	if u == unitLine {
		// People count lines from 1, and what a tool made of it from 0.
		return fmt.Sprintf("%s %d", u, uint64(position)+1)
	}
	return fmt.Sprintf("%s %d", u, position)
}

// Next returns the next message, or io.EOF at the end of the transcript. What is wrong with the input is a *LineError.
// After an error Next returns the same error again.
//
// Every message has origin IMPORT, or CONTINUE if it is one of role USER that the user did not write. Its
// source_position counts from 0: lines in JSON Lines, elements in a document, entries behind the header in a Pi session
// file. Place tells it in words.
func (r *Reader) Next() (*compactordv1.Message, error) {
	if r.err != nil {
		return nil, r.err
	}
	for {
		e, err := r.source.next()
		switch {
		case errors.Is(err, io.EOF) && r.records.messages == 0 && r.remarks.skipped != nil:
			// Nothing of it could be read.
			r.err = unreadable(r.remarks.skipped, r.format)
			return nil, r.err
		case errors.Is(err, io.EOF):
			r.records.end(r.remarks)
			r.err = err
			return nil, err
		case err != nil && r.remarks.skip(err):
		case err != nil:
			r.err = err
			return nil, err
		case e.record != nil:
			r.records.add(e.record)
		default:
			r.records.count()
			r.told(e.message)
			return e.message, nil
		}
	}
}

// told notes a message of which something could not be read.
func (r *Reader) told(m *compactordv1.Message) {
	switch {
	case !dialect.HoldsUnread(m):
	case r.source.unit() == unitLine:
		r.remarks.addAt(unreadPart, int(m.GetSourcePosition())+1)
	default:
		r.remarks.add(unreadPart)
	}
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

// Records returns the compactions and checkpoints that the transcript told of so far; all of them once Next has returned
// io.EOF. Their after_messages and first_kept_index count the messages that Next returned, from the first: who appends
// them in several requests subtracts what went before. A compaction stands behind the first message that it kept, at the
// earliest.
func (r *Reader) Records() []*compactordv1.ImportedRecord { return r.records.ready }
