package transcript

import (
	"errors"
	"fmt"
	"io"

	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// entry is a message or a record.
type entry struct {
	message *compactordv1.Message
	// after_messages of the record is not set yet. Its first_kept_index counts the source's messages from 0, and can be
	// that of a later message.
	record *compactordv1.ImportedRecord
}

// source returns the entries of one format, and then io.EOF. Its other errors have their line.
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
	notes   *noteCounter
	records records
	files   *files // nil where the caller opened the input
	err     error
}

// Open recognizes a transcript by its beginning. It reads only what it needs for that, at most 64 lines or 1 MiB, and r
// need not be able to seek. It returns ErrEmpty where there is only white space, ErrUnknownFormat where the format is
// unknown, a *LineError where the beginning is broken, a *SessionsError where there are several sessions and none was
// selected, and the error of r where reading failed. Next can also return these errors.
func Open(r io.Reader, opts ...Option) (*Reader, error) {
	return open(newLines(r, optionsOf(opts)))
}

// OpenAs reads a transcript of a known format, like Open with the option As.
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
	return &Reader{format: f.id, source: s, notes: in.notes}, nil
}

// Format returns the format of the transcript.
func (r *Reader) Format() Format { return r.format }

// Place returns the place in the file of the message with a source_position, such as `line 8`.
func (r *Reader) Place(position uint32) string {
	u := r.source.unit()
	if u == unitLine {
		// People count lines from 1, and elements in a tool's list from 0.
		return fmt.Sprintf("%s %d", u, uint64(position)+1)
	}
	return fmt.Sprintf("%s %d", u, position)
}

// Next returns the next message, or io.EOF at the end of the transcript. Errors of the input are a *LineError. After an
// error Next returns the same error again.
//
// Every message has origin IMPORT, or CONTINUE if it is a USER message that the user did not write. Its source_position
// counts from 0: lines in JSON Lines, elements in a document, entries after the header in a Pi session file. Place
// returns it in words.
func (r *Reader) Next() (*compactordv1.Message, error) {
	if r.err != nil {
		return nil, r.err
	}
	for {
		e, err := r.source.next()
		switch {
		case errors.Is(err, io.EOF) && r.records.messages == 0 && r.notes.skipped != nil:
			// No record of the input could be read.
			r.err = unreadable(r.notes.skipped, r.format)
			return nil, r.err
		case errors.Is(err, io.EOF):
			r.records.end(r.notes)
			r.err = err
			return nil, err
		case err != nil && r.notes.skip(err):
		case err != nil:
			r.err = err
			return nil, err
		case e.record != nil:
			r.records.add(e.record)
		default:
			r.records.count()
			r.noteUnread(e.message)
			return e.message, nil
		}
	}
}

// noteUnread notes a message that could not be read completely.
func (r *Reader) noteUnread(m *compactordv1.Message) {
	switch {
	case !dialect.HoldsUnread(m):
	case r.source.unit() == unitLine:
		r.notes.addAt(unreadPart, int(m.GetSourcePosition())+1)
	default:
		r.notes.add(unreadPart)
	}
}

// ReadAll returns all remaining messages.
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

// Notes returns what was left out or changed so far. It is complete once Next returned io.EOF.
func (r *Reader) Notes() []Note { return r.notes.all() }

// Records returns the compactions and checkpoints of the transcript so far. It is complete once Next returned io.EOF.
// Their after_messages and first_kept_index count the messages that Next returned, from the first. A caller that
// appends them in several requests must subtract the messages of earlier requests. A compaction comes at the earliest
// after the first message that it kept.
func (r *Reader) Records() []*compactordv1.ImportedRecord { return r.records.ready }
