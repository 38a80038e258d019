package transcript

import (
	"encoding/json"
	"errors"
	"io"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// elementSource reads a list in which each element holds any number of messages and records.
type elementSource struct {
	feed feed
	// read parses an element.
	read func(raw json.RawMessage) ([]entry, error)
	// rest returns the entries that are known only at the end of the list. It can be nil.
	rest func() ([]entry, error)
	// notes are those of the input. Content of an element that cannot be read is left out.
	notes *noteCounter

	entries []entry
	element int
	ended   bool
}

func (s *elementSource) unit() unit { return unitElement }

func (s *elementSource) next() (entry, error) {
	for len(s.entries) == 0 {
		if err := s.advance(); err != nil {
			return entry{}, err
		}
	}
	e := s.entries[0]
	s.entries = s.entries[1:]
	return e, nil
}

// advance reads one more element, or the entries at the end.
func (s *elementSource) advance() error {
	if s.ended {
		return io.EOF
	}
	at := s.element
	raw, err := s.feed.next()
	switch {
	case errors.Is(err, io.EOF):
		s.ended = true
		if s.rest == nil {
			return io.EOF
		}
		s.entries, err = s.rest()
	case err != nil:
		s.element++
		return err
	default:
		line := &LineError{}
		errors.As(s.feed.on(errShape), &line)
		err = s.notes.repair(raw, line.Line, func(raw json.RawMessage) error {
			var err error
			s.entries, err = s.read(raw)
			return err
		})
		s.element++
	}
	if err != nil {
		return s.feed.on(err)
	}
	for _, e := range s.entries {
		if e.message != nil && e.message.SourcePosition == nil {
			e.message.SourcePosition = position(at)
		}
	}
	return nil
}

// one returns the entry of an element that is a message, or none.
func one(m *compactordv1.Message, err error) ([]entry, error) {
	if m == nil || err != nil {
		return nil, err
	}
	return []entry{{message: m}}, nil
}
