package dialects

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
)

var (
	errNotJSON = errors.New("is not valid JSON")
	errCutOff  = errors.New("is not valid JSON: it breaks off at its end")
	errMissing = errors.New("is missing")
	errEmpty   = errors.New("is empty")
)

// object is a JSON object with its values as they were written. Keys are exact, as encoding/json's struct fields are not.
type object map[string]json.RawMessage

// kind is what a JSON value is.
type kind string

const (
	kindMissing kind = "missing"
	kindNull    kind = "null"
	kindString  kind = "a string"
	kindNumber  kind = "a number"
	kindBool    kind = "a boolean"
	kindArray   kind = "an array"
	kindObject  kind = "an object"
)

// kindOf tells a valid JSON value's kind by its first byte.
func kindOf(raw json.RawMessage) kind {
	if len(raw) == 0 {
		return kindMissing
	}
	switch raw[0] {
	case 'n':
		return kindNull
	case '"':
		return kindString
	case 't', 'f':
		return kindBool
	case '[':
		return kindArray
	case '{':
		return kindObject
	default:
		return kindNumber
	}
}

func wrongKind(raw json.RawMessage, want kind) error {
	have := kindOf(raw)
	if have == kindMissing {
		return errMissing
	}
	return fmt.Errorf("must be %s, is %s", want, have)
}

// parseObject reads an object, and refuses what is not valid JSON as a whole.
func parseObject(raw []byte) (object, error) {
	var o object
	if err := json.Unmarshal(raw, &o); err != nil {
		return nil, describe(raw, err)
	}
	if o == nil {
		return nil, wrongKind(raw, kindObject)
	}
	return o, nil
}

func parseArray(raw json.RawMessage) ([]json.RawMessage, error) {
	var a []json.RawMessage
	if err := json.Unmarshal(raw, &a); err != nil || a == nil {
		return nil, wrongKind(raw, kindArray)
	}
	return a, nil
}

// describe says what is wrong with JSON. The error of encoding/json is not passed on: it quotes the input.
func describe(raw []byte, err error) error {
	syntax := &json.SyntaxError{}
	switch {
	case !errors.As(err, &syntax):
		return wrongKind(raw, kindObject)
	case syntax.Offset >= int64(len(raw)):
		return errCutOff
	default:
		return fmt.Errorf("%w: it goes wrong at byte %d", errNotJSON, syntax.Offset)
	}
}

// has says whether a field is there and not null.
func (o object) has(key string) bool {
	k := kindOf(o[key])
	return k != kindMissing && k != kindNull
}

// isText says whether a field is exactly this text.
func (o object) isText(key, text string) bool {
	if kindOf(o[key]) != kindString {
		return false
	}
	var s string
	return json.Unmarshal(o[key], &s) == nil && s == text
}

// text returns a string, empty where it is missing or null.
func (o object) text(key string) (string, error) {
	if !o.has(key) {
		return "", nil
	}
	return o.demandText(key)
}

// demandText returns a string that must be there.
func (o object) demandText(key string) (string, error) {
	var s string
	if kindOf(o[key]) != kindString || json.Unmarshal(o[key], &s) != nil {
		return "", in(key, wrongKind(o[key], kindString))
	}
	return s, nil
}

// boundedText returns a string of at most limit bytes, empty where it is missing or null.
func (o object) boundedText(key string, limit int) (string, error) {
	s, err := o.text(key)
	if err != nil {
		return "", err
	}
	if len(s) > limit {
		return "", in(key, tooLarge(len(s), limit))
	}
	return s, nil
}

func tooLarge(size, limit int) error {
	return fmt.Errorf("is %d bytes long, at most %d are possible", size, limit)
}

// truth returns a boolean, false where it is missing or null.
func (o object) truth(key string) (bool, error) {
	if !o.has(key) {
		return false, nil
	}
	if kindOf(o[key]) != kindBool {
		return false, in(key, wrongKind(o[key], kindBool))
	}
	return o[key][0] == 't', nil
}

// count returns a whole number that fits 32 bits, 0 where it is missing or null.
func (o object) count(key string) (uint32, error) {
	if !o.has(key) {
		return 0, nil
	}
	if kindOf(o[key]) != kindNumber {
		return 0, in(key, wrongKind(o[key], kindNumber))
	}
	// Some tools write counts as 1.0 or 1e3.
	n, err := strconv.ParseFloat(string(o[key]), 64)
	if err != nil || n < 0 || n > math.MaxUint32 || n != math.Trunc(n) {
		return 0, in(key, errors.New("must be a whole number from 0 to 4294967295"))
	}
	return uint32(n), nil
}

// sub returns an object within, nil where it is missing or null.
func (o object) sub(key string) (object, error) {
	if !o.has(key) {
		return nil, nil
	}
	s, err := parseObject(o[key])
	return s, in(key, err)
}

// array returns the elements of an array, none where it is missing or null.
func (o object) array(key string) ([]json.RawMessage, error) {
	if !o.has(key) {
		return nil, nil
	}
	a, err := parseArray(o[key])
	return a, in(key, err)
}

// others returns, sorted, the keys that are not among known and whose value says something.
func (o object) others(known ...string) []string {
	var keys []string
	for key := range o {
		if o.has(key) && !slices.Contains(known, key) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}
