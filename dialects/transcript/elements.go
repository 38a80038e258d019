package transcript

import (
	"encoding/json"
	"io"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// feed returns the elements of a list one by one, and then io.EOF.
type feed interface {
	// next returns an element. Its bytes are valid until the next call.
	next() (json.RawMessage, error)
	// on adds to an error of the last element its place in the file.
	on(err error) error
}

// elements feeds the array in a field of a document that is an object, or a document that is an array. It holds only
// one element at a time.
type elements struct {
	doc document
	// field is empty where the document is the array.
	field string
	// beside is called with the fields before and after the array. The bytes are valid until it returns.
	beside func(key string, value json.RawMessage) error
	state  arrayState
}

type arrayState int

const (
	beforeArray arrayState = iota
	amongElements
	behindArray
)

func newElements(in *lines, field string, beside func(string, json.RawMessage) error) *elements {
	return &elements{doc: document{in: in}, field: field, beside: beside}
}

func (e *elements) on(err error) error { return onLine(e.doc.at, err) }

func (e *elements) next() (json.RawMessage, error) {
	if e.state == behindArray {
		return nil, io.EOF
	}
	b, more, err := e.first()
	if err != nil {
		return nil, err
	}
	if !more {
		return nil, e.finish()
	}
	return e.doc.value(b)
}

// first returns the first byte of the next element, if there is one.
func (e *elements) first() (b byte, more bool, err error) {
	if e.state == beforeArray {
		if err := e.enter(); err != nil {
			return 0, false, err
		}
		e.state = amongElements
		b, err := e.doc.token()
		return b, b != ']', err
	}
	if more, err = e.doc.separator(']'); err != nil || !more {
		return 0, false, err
	}
	b, err = e.doc.token()
	return b, true, err
}

// enter reads up to the array.
func (e *elements) enter() error {
	if e.field != "" {
		if err := e.doc.expect('{'); err != nil {
			return err
		}
		found, err := e.passFields()
		if err != nil {
			return err
		}
		if !found {
			return &LineError{Line: e.doc.in.line + 1, Field: e.field, Err: rawjson.ErrMissing}
		}
	}
	return e.doc.expect('[')
}

// finish reads the rest of the document after the array, since a document that breaks off there is broken, too.
func (e *elements) finish() error {
	e.state = behindArray
	if e.field != "" {
		more, err := e.doc.separator('}')
		if err != nil {
			return err
		}
		if more {
			again, err := e.passFields()
			if err != nil {
				return err
			}
			if again {
				return &LineError{Line: e.doc.at, Field: e.field, Err: errTwice}
			}
		}
	}
	if err := e.doc.end(); err != nil {
		return err
	}
	return io.EOF
}

// passFields reads the fields of the object up to the value with the array, or to the end of the object.
func (e *elements) passFields() (found bool, err error) {
	for more := true; more; {
		key, err := e.key()
		if err != nil || key == e.field {
			return err == nil, err
		}
		b, err := e.doc.token()
		if err != nil {
			return false, err
		}
		value, err := e.doc.value(b)
		if err != nil {
			return false, err
		}
		if err := e.beside(key, value); err != nil {
			return false, e.on(rawjson.In(key, err))
		}
		if more, err = e.doc.separator('}'); err != nil {
			return false, err
		}
	}
	return false, nil
}

func (e *elements) key() (string, error) {
	b, err := e.doc.token()
	if err != nil {
		return "", err
	}
	if b != '"' {
		return "", e.doc.wrong(errShape)
	}
	raw, err := e.doc.value(b)
	if err != nil {
		return "", err
	}
	var key string
	if err := json.Unmarshal(raw, &key); err != nil {
		return "", e.doc.wrong(rawjson.ErrNotJSON)
	}
	return key, e.doc.expect(':')
}

// parsed feeds the array in a field of an object that is already in memory.
type parsed struct {
	field string
	line  int // on which the object begins
	raws  []json.RawMessage
	read  int
}

func newParsed(o rawjson.Object, field string, line int) (*parsed, error) {
	raws, err := rawjson.ParseArray(o[field])
	if err != nil {
		return nil, onLine(line, rawjson.In(field, err))
	}
	return &parsed{field: field, line: line, raws: raws}, nil
}

func (p *parsed) next() (json.RawMessage, error) {
	if p.read == len(p.raws) {
		return nil, io.EOF
	}
	p.read++
	return p.raws[p.read-1], nil
}

func (p *parsed) on(err error) error {
	return onLine(p.line, rawjson.In(p.field, rawjson.InElement(p.read-1, err)))
}
