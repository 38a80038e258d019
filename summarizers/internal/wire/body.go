package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

var (
	errNoObject  = errors.New("not a JSON object")
	errNoElement = errors.New("an array without elements")
)

// Member returns the value of an object's member, byte for byte; nil if it has none.
func Member(object []byte, name string) (json.RawMessage, error) {
	start, end, err := find(object, name)
	if err != nil || start == end {
		return nil, err
	}
	return object[start:end], nil
}

// Set sets a member of an object. All else stays byte for byte.
func Set(object []byte, name string, value json.RawMessage) ([]byte, error) {
	start, end, err := find(object, name)
	if err != nil {
		return nil, err
	}
	if start < end {
		return join(object[:start], value, object[end:]), nil
	}
	key, err := json.Marshal(name)
	if err != nil {
		return nil, err
	}
	head := bytes.TrimRight(object, " \t\r\n")
	head = bytes.TrimRight(head[:len(head)-1], " \t\r\n")
	separator := []byte(",")
	if head[len(head)-1] == '{' {
		separator = nil
	}
	return join(head, separator, key, []byte(":"), value, []byte("}")), nil
}

// find returns where a member's value stands; an empty range if nowhere.
func find(object []byte, name string) (start, end int, err error) {
	d := json.NewDecoder(bytes.NewReader(object))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return 0, 0, errors.Join(errNoObject, err)
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return 0, 0, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return 0, 0, err
		}
		if key == name {
			end = int(d.InputOffset())
			start = end - len(value)
		}
	}
	if _, err := d.Token(); err != nil {
		return 0, 0, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return 0, 0, errNoObject
	}
	return start, end, nil
}

// Append adds elements to the end of an array, which else stays byte for byte.
func Append(array json.RawMessage, more ...json.RawMessage) (json.RawMessage, error) {
	all, err := Elements(array)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return Array(more...), nil
	}
	head := array[:bytes.LastIndexByte(array, ']')]
	return join(head, []byte(","), Array(more...)[1:]), nil
}

// SetLast puts another element in the place of the last one of an array, which else stays byte for byte.
func SetLast(array json.RawMessage, last json.RawMessage) (json.RawMessage, error) {
	all, err := Elements(array)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, errNoElement
	}
	old := all[len(all)-1]
	// Behind the last element there is only white space and the bracket.
	at := bytes.LastIndex(array, old)
	return join(array[:at], last, array[at+len(old):]), nil
}

// Elements takes an array apart.
func Elements(array json.RawMessage) ([]json.RawMessage, error) {
	var all []json.RawMessage
	err := json.Unmarshal(array, &all)
	return all, err
}

// Array writes an array of elements as they stand.
func Array(elements ...json.RawMessage) json.RawMessage {
	inner := bytes.Join(rawBytes(elements), []byte(","))
	return join([]byte("["), inner, []byte("]"))
}

func rawBytes(elements []json.RawMessage) [][]byte {
	all := make([][]byte, len(elements))
	for i, e := range elements {
		all[i] = e
	}
	return all
}

func join(pieces ...[]byte) []byte { return bytes.Join(pieces, nil) }
