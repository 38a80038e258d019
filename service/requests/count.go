package requests

import (
	"errors"
	"fmt"
	"math/bits"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
)

// Bounds of what one request may hold.
const (
	// maxValues is how many messages, elements of lists and pairs of maps a request may hold, at all depths.
	maxValues = 1 << 20
	// maxJSONValues is how many values its JSON may hold.
	maxJSONValues = 2 << 20
	// maxNesting is how deep its messages may nest, and maxJSONNesting the same for JSON.
	maxNesting     = 64
	maxJSONNesting = 500
	// jsonValueMemory is what a value of a provider's JSON takes while it is read.
	jsonValueMemory = 160
)

// tally is what a request holds.
type tally struct {
	// values counts nested messages, elements of lists, and pairs of maps; jsonValues those within JSON.
	values, jsonValues int
	// memory is an upper bound for what the decoded request takes, in bytes.
	memory int64
}

// errBroken says that the bytes of a request are no message.
var errBroken = errors.New("broken bytes")

// count counts what the bytes of a message would become. It fails where they would break a bound.
func count(d protoreflect.MessageDescriptor, wire []byte) (*tally, error) {
	s := shapeOf(d)
	t := &tally{memory: s.memory}
	if err := t.message(s, wire, maxNesting); err != nil {
		return nil, err
	}
	return t, nil
}

// message counts the fields of a message. levels is how many levels it may have.
func (t *tally) message(s *shape, wire []byte, levels int) error {
	if levels == 0 {
		return &fieldError{what: fmt.Sprintf("messages nest deeper than %d levels", maxNesting)}
	}
	var few [8]int
	lengths := few[:]
	if s.lists > len(few) {
		lengths = make([]int, s.lists)
	}
	for len(wire) > 0 {
		number, wireType, n := protowire.ConsumeTag(wire)
		if n < 0 {
			return errBroken
		}
		rest := wire[n:]
		var f *field
		if int(number) < len(s.fields) {
			f = s.fields[number]
		}
		if f == nil || !f.takes(wireType) {
			if !s.isPair {
				return &fieldError{path: strconv.Itoa(int(number)), what: "this daemon does not know this field"}
			}
			f = nil
		}
		size := protowire.ConsumeFieldValue(number, wireType, rest)
		if size < 0 {
			return errBroken
		}
		wire = rest[size:]
		if f == nil {
			t.memory += int64(size)
			continue
		}
		if err := t.value(f, wireType, rest[:size], &lengths[f.slot], levels); err != nil {
			return err
		}
	}
	return nil
}

// takes says whether decoding accepts a wire type for the field. Lists of numbers may be packed.
func (f *field) takes(t protowire.Type) bool {
	return t == f.wire || f.list && t == protowire.BytesType
}

// value counts the bytes of a field. length is the length of the list so far.
func (t *tally) value(f *field, wireType protowire.Type, wire []byte, length *int, levels int) error {
	items := 0
	content := wire
	if wireType == protowire.BytesType {
		content, _ = protowire.ConsumeBytes(wire)
	}
	switch {
	case f.list && wireType != f.wire:
		items = packed(f.wire, content)
		t.memory += int64(items) * f.memory
	case f.list || f.of != nil:
		items = 1
		t.memory += f.memory
	default:
		t.memory += f.memory
	}
	if t.values += items; t.values > maxValues {
		return tooMany(limitOfValues, maxValues, "values")
	}
	at := *length
	if f.list {
		if *length += items; f.maxItems > 0 && *length > f.maxItems {
			return &fieldError{path: f.name, what: apierror.TooManyEntries(f.maxItems)}
		}
	}
	if f.of != nil {
		t.memory += f.of.memory
		return within(f, at, t.message(f.of, content, levels-1))
	}
	if f.wire != protowire.BytesType {
		return nil
	}
	t.memory += int64(len(content)) + int64(len(content)/4) + 16
	return within(f, at, t.json(f.json, content))
}

// json counts the JSON in a field.
func (t *tally) json(use jsonUse, text []byte) error {
	if use == noJSON {
		return nil
	}
	values, depth := countJSON(text)
	if t.jsonValues += values; t.jsonValues > maxJSONValues {
		return tooMany(limitOfJSON, maxJSONValues, "values in JSON")
	}
	if use != jsonByModels && depth > maxJSONNesting {
		return &fieldError{what: fmt.Sprintf("its JSON nests deeper than %d levels", maxJSONNesting)}
	}
	if use == readJSON {
		t.memory += int64(values)*jsonValueMemory + int64(len(text))
	}
	return nil
}

// packed returns how many numbers packed bytes hold.
func packed(wireType protowire.Type, content []byte) int {
	switch wireType {
	case protowire.Fixed32Type:
		return len(content) / 4
	case protowire.Fixed64Type:
		return len(content) / 8
	default:
		n := 0
		for _, b := range content {
			// A number ends with the byte that has no continuation bit.
			n += 1 - bits.OnesCount8(b&0x80)
		}
		return n
	}
}

func tooMany(limit string, value int, what string) *apierror.Error {
	return apierror.New(compactordv1.ErrorReason_ERROR_REASON_LIMIT_EXCEEDED,
		map[string]string{"limit": limit, "value": strconv.Itoa(value)},
		"the request holds more than %d %s", value, what)
}

// fieldError says what is wrong with a field, by its path within the message.
type fieldError struct{ path, what string }

func (e *fieldError) Error() string { return e.path + ": " + e.what }

// within adds a field to the path of an error.
func within(f *field, at int, err error) error {
	if err == nil {
		return nil
	}
	var broken *fieldError
	if !errors.As(err, &broken) {
		return err
	}
	name := f.name
	if f.list {
		name += "[" + strconv.Itoa(at) + "]"
	}
	if broken.path != "" {
		name += "." + broken.path
	}
	broken.path = name
	return broken
}
