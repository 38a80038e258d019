package rawjson

import (
	"bytes"
	"encoding/json"
	"slices"
)

// The functions in this file edit JSON in place: everything that they do not change stays byte for byte, including
// white space. Object.Encode writes an object anew instead.

// Set sets a field of an object.
func Set(object json.RawMessage, key string, value json.RawMessage) (json.RawMessage, error) {
	fields, err := ParseObject(object)
	if err != nil {
		return nil, err
	}
	if start, end := find(object, key); start < end {
		return slices.Concat(object[:start], value, object[end:]), nil
	}
	head := bytes.TrimRight(object[:bytes.LastIndexByte(object, '}')], " \t\r\n")
	if len(fields) > 0 {
		head = append(slices.Clip(head), ',')
	}
	return slices.Concat(head, Quote(key), []byte(":"), value, []byte("}")), nil
}

// find returns the range of the value of a field in a valid object. It is empty where there is none. Of several fields
// with the same name, the last one counts.
func find(object json.RawMessage, key string) (start, end int) {
	s := splitter{raw: object, at: bytes.IndexByte(object, '{') + 1}
	for name := s.next(); name != nil; name = s.next() {
		value := s.next()
		if text, err := textOf(name); err == nil && text == key {
			start, end = s.at-len(value), s.at
		}
	}
	return start, end
}

// Append adds elements to the end of an array.
func Append(array json.RawMessage, more ...json.RawMessage) (json.RawMessage, error) {
	elements, err := ParseArray(array)
	if err != nil {
		return nil, err
	}
	if len(more) == 0 {
		return array, nil
	}
	if len(elements) == 0 {
		return EncodeArray(more), nil
	}
	head := array[:bytes.LastIndexByte(array, ']')]
	return slices.Concat(head, []byte(","), EncodeArray(more)[1:]), nil
}

// SetLast replaces the last element of an array.
func SetLast(array, last json.RawMessage) (json.RawMessage, error) {
	elements, err := ParseArray(array)
	if err != nil {
		return nil, err
	}
	if len(elements) == 0 {
		return nil, ErrEmpty
	}
	old := elements[len(elements)-1]
	// After the last element there are only white space and the bracket.
	at := bytes.LastIndex(array, old)
	return slices.Concat(array[:at], last, array[at+len(old):]), nil
}
