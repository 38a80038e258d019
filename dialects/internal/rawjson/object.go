// Package rawjson reads and writes JSON and keeps its values unchanged: numbers are not rounded, and unknown fields are
// not lost. Its errors name the field and quote nothing.
package rawjson

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// The errors of values. Each is wrapped in an error that names the field.
var (
	ErrNotJSON = errors.New("is not valid JSON")
	ErrCutOff  = errors.New("is not valid JSON: it breaks off at its end")
	ErrMissing = errors.New("is missing")
	ErrEmpty   = errors.New("is empty")
	// ErrTooLarge marks every error about a value that is larger than a log accepts.
	ErrTooLarge = errors.New("is larger than a log takes")
)

// Object is a JSON object with unchanged values. Upper and lower case in keys differ, unlike in encoding/json's struct
// fields.
type Object map[string]json.RawMessage

// Kind is the kind of a JSON value.
type Kind string

// The kinds. Missing means that there is no value.
const (
	Missing    Kind = "missing"
	Null       Kind = "null"
	String     Kind = "a string"
	Number     Kind = "a number"
	Bool       Kind = "a boolean"
	Array      Kind = "an array"
	ObjectKind Kind = "an object"
)

// KindOf returns the kind of a valid JSON value, by its first byte.
func KindOf(raw json.RawMessage) Kind {
	if len(raw) == 0 {
		return Missing
	}
	switch raw[0] {
	case 'n':
		return Null
	case '"':
		return String
	case 't', 'f':
		return Bool
	case '[':
		return Array
	case '{':
		return ObjectKind
	default:
		return Number
	}
}

// WrongKind returns an error about a value that is missing or of the wrong kind.
func WrongKind(raw json.RawMessage, want Kind) error {
	have := KindOf(raw)
	if have == Missing {
		return ErrMissing
	}
	return fmt.Errorf("must be %s, is %s", want, have)
}

// ParseObject reads an object. It checks that the whole JSON is valid.
func ParseObject(raw []byte) (Object, error) {
	var o Object
	if err := json.Unmarshal(raw, &o); err != nil {
		return nil, describe(raw, err)
	}
	if o == nil {
		return nil, WrongKind(raw, ObjectKind)
	}
	return o, nil
}

// ParseArray reads an array.
func ParseArray(raw json.RawMessage) ([]json.RawMessage, error) {
	var a []json.RawMessage
	if err := json.Unmarshal(raw, &a); err != nil || a == nil {
		return nil, WrongKind(raw, Array)
	}
	return a, nil
}

// describe returns what is wrong with JSON. It does not pass on the error of encoding/json, which quotes the input.
func describe(raw []byte, err error) error {
	syntax := &json.SyntaxError{}
	switch {
	case !errors.As(err, &syntax):
		return WrongKind(raw, ObjectKind)
	case syntax.Offset >= int64(len(raw)):
		return ErrCutOff
	default:
		return fmt.Errorf("%w: it goes wrong at byte %d", ErrNotJSON, syntax.Offset)
	}
}

// Has reports whether a field is present and not null.
func (o Object) Has(key string) bool {
	k := KindOf(o[key])
	return k != Missing && k != Null
}

// IsText reports whether a field is exactly this text.
func (o Object) IsText(key, text string) bool {
	if KindOf(o[key]) != String {
		return false
	}
	var s string
	return json.Unmarshal(o[key], &s) == nil && s == text
}

// Text returns a string. Empty where the field is missing or null.
func (o Object) Text(key string) (string, error) {
	if !o.Has(key) {
		return "", nil
	}
	return o.DemandText(key)
}

// DemandText returns a string, and an error where the field is missing.
func (o Object) DemandText(key string) (string, error) {
	if KindOf(o[key]) == String {
		if s, err := textOf(o[key]); err == nil {
			return s, nil
		}
	}
	return "", In(key, WrongKind(o[key], String))
}

// BoundedText returns a string of at most limit bytes. Empty where the field is missing or null.
func (o Object) BoundedText(key string, limit int) (string, error) {
	s, err := o.Text(key)
	if err != nil {
		return "", err
	}
	if len(s) > limit {
		return "", In(key, TooLarge(len(s), limit))
	}
	return s, nil
}

// TooLarge returns an error about a value that is longer than a log accepts.
func TooLarge(size, limit int) error {
	return &sizeError{size: size, limit: limit}
}

type sizeError struct{ size, limit int }

func (e *sizeError) Error() string {
	return fmt.Sprintf("is %d bytes long, at most %d are possible", e.size, e.limit)
}

func (e *sizeError) Unwrap() error { return ErrTooLarge }

// Truth returns a boolean. It is false where the field is missing or null.
func (o Object) Truth(key string) (bool, error) {
	if !o.Has(key) {
		return false, nil
	}
	if KindOf(o[key]) != Bool {
		return false, In(key, WrongKind(o[key], Bool))
	}
	return o[key][0] == 't', nil
}

// Count returns a whole number of at most 32 bits. It is 0 where the field is missing or null.
func (o Object) Count(key string) (uint32, error) {
	if !o.Has(key) {
		return 0, nil
	}
	if KindOf(o[key]) != Number {
		return 0, In(key, WrongKind(o[key], Number))
	}
	// Some tools write counts as 1.0 or 1e3.
	n, err := strconv.ParseFloat(string(o[key]), 64)
	if err != nil || n < 0 || n > math.MaxUint32 || n != math.Trunc(n) {
		return 0, In(key, errors.New("must be a whole number from 0 to 4294967295"))
	}
	return uint32(n), nil
}

// TextOrEmpty returns a string. Empty where the field is missing or of another kind.
func (o Object) TextOrEmpty(key string) string {
	text, err := o.Text(key)
	if err != nil {
		return ""
	}
	return text
}

// DemandBoundedText returns a string of at most limit bytes, and an error where the field is missing.
func (o Object) DemandBoundedText(key string, limit int) (string, error) {
	text, err := o.DemandText(key)
	if err == nil && len(text) > limit {
		return "", In(key, TooLarge(len(text), limit))
	}
	return text, err
}

// Sub returns an inner object. It is nil where the field is missing or null.
func (o Object) Sub(key string) (Object, error) {
	if !o.Has(key) {
		return nil, nil
	}
	s, err := ParseObject(o[key])
	return s, In(key, err)
}

// Elements returns the elements of an array. There are none where the field is missing or null.
func (o Object) Elements(key string) ([]json.RawMessage, error) {
	if !o.Has(key) {
		return nil, nil
	}
	a, err := ParseArray(o[key])
	return a, In(key, err)
}

// Others returns the sorted keys of the fields that are not in known and whose values have content.
func (o Object) Others(known ...string) []string {
	var keys []string
	for key := range o {
		if o.Has(key) && !slices.Contains(known, key) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}
