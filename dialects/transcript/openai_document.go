package transcript

import (
	"encoding/json"
	"errors"
	"io"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

var (
	bodyField = leftOut("field beside the messages", "fields beside the messages")

	errForeignSystem = errors.New("requests of OpenAI's shape have no such field; its text belongs into a message of role system")
	errTwice         = errors.New("is there twice")
)

// openAIDocument reads the messages of one JSON document: an array, or a request body that has them in `messages`.
type openAIDocument struct {
	doc     document
	remarks *remarks
	body    bool
	element int
	counts  lineCounts
	state   documentState
}

type documentState int

const (
	beforeMessages documentState = iota
	amongMessages
	behindMessages
)

func newArray(in *lines) *openAIDocument {
	return &openAIDocument{doc: document{in: in}, remarks: in.remarks}
}

func (s *openAIDocument) unit() unit { return unitElement }

// newBody reads a request body up to its messages, and returns ErrUnknownFormat if it has none.
func newBody(in *lines) (*openAIDocument, error) {
	s := &openAIDocument{doc: document{in: in}, remarks: in.remarks, body: true}
	if err := s.doc.expect('{'); err != nil {
		return nil, err
	}
	found, err := s.skipFields()
	if err == nil && !found {
		err = ErrUnknownFormat
	}
	return s, err
}

func (s *openAIDocument) next() (entry, error) {
	for {
		raw, err := s.raw()
		if err != nil {
			return entry{}, err
		}
		o, err := rawjson.ParseObject(raw)
		if err != nil {
			return entry{}, onLine(s.doc.at, err)
		}
		e, ok, err := openAIEntry(o, raw, s.element, &s.counts, s.remarks)
		if err != nil {
			return entry{}, onLine(s.doc.at, err)
		}
		s.element++
		if ok {
			return e, nil
		}
	}
}

// raw returns the next element of the array, or io.EOF when the whole document has been read.
func (s *openAIDocument) raw() (json.RawMessage, error) {
	switch s.state {
	case beforeMessages:
		if err := s.doc.expect('['); err != nil {
			return nil, err
		}
		s.state = amongMessages
		b, err := s.doc.token()
		if err != nil {
			return nil, err
		}
		if b == ']' {
			return nil, s.finish()
		}
		return s.doc.value(b)
	case amongMessages:
		more, err := s.doc.separator(']')
		if err != nil {
			return nil, err
		}
		if !more {
			return nil, s.finish()
		}
		b, err := s.doc.token()
		if err != nil {
			return nil, err
		}
		return s.doc.value(b)
	default:
		return nil, io.EOF
	}
}

// finish reads what the document holds behind the array. A document that breaks off there is broken too.
func (s *openAIDocument) finish() error {
	s.state = behindMessages
	if s.body {
		more, err := s.doc.separator('}')
		if err != nil {
			return err
		}
		if more {
			again, err := s.skipFields()
			if err != nil {
				return err
			}
			if again {
				return &LineError{Line: s.doc.at, Field: "messages", Err: errTwice}
			}
		}
	}
	if err := s.doc.end(); err != nil {
		return err
	}
	return io.EOF
}

// skipFields reads the fields of a body up to the value of `messages`, or to the end of the body.
func (s *openAIDocument) skipFields() (found bool, err error) {
	for {
		key, err := s.field()
		if err != nil || key == "messages" {
			return err == nil, err
		}
		b, err := s.doc.token()
		if err != nil {
			return false, err
		}
		value, err := s.doc.value(b)
		if err != nil {
			return false, err
		}
		if key == "system" && rawjson.KindOf(value) != rawjson.Null {
			return false, &LineError{Line: s.doc.at, Field: key, Err: errForeignSystem}
		}
		s.remarks.add(bodyField)
		more, err := s.doc.separator('}')
		if err != nil || !more {
			return false, err
		}
	}
}

func (s *openAIDocument) field() (string, error) {
	b, err := s.doc.token()
	if err != nil {
		return "", err
	}
	if b != '"' {
		return "", s.doc.wrong(errShape)
	}
	raw, err := s.doc.value(b)
	if err != nil {
		return "", err
	}
	var key string
	if err := json.Unmarshal(raw, &key); err != nil {
		return "", s.doc.wrong(rawjson.ErrNotJSON)
	}
	return key, s.doc.expect(':')
}
