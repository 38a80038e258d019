package requests

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
)

// inJSON is an incoming stream whose messages can be in protobuf's JSON.
type inJSON interface {
	// JSON says whether they are.
	JSON() bool
}

// isJSON says whether the requests of a call are in JSON.
func isJSON(ctx context.Context) bool {
	stream, is := grpc.ServerTransportStreamFromContext(ctx).(inJSON)
	return is && stream.JSON()
}

// admitJSON decodes a request in JSON once it has the memory for that, and says how many values it holds.
//
// What JSON becomes is known only when it is decoded. So the memory for the most that it can become is reserved first, and
// its encoding in protobuf, which has all that was decoded, is counted afterwards, within the same bounds as one that came.
func (r *Receiver) admitJSON(ctx context.Context, m proto.Message, text []byte, reserved *share) (values int, err error) {
	if ctx.Err() != nil {
		return 0, apierror.EndCause(ctx)
	}
	// Beside the decoded request there are the text and, for counting, the encoding. What of that is longer than the text, as
	// a list of numbers can be, is in what a value takes. Both are gone when the request is written to the store.
	beside := int64(cap(text) + len(text))
	if err := reserved.arrived(mostOfJSON(m.ProtoReflect().Descriptor(), text) + beside); err != nil {
		return 0, r.Budget.refusal(err)
	}
	if err := decodeJSON(m, text); err != nil {
		return 0, err
	}
	wire, err := proto.Marshal(m)
	if err != nil {
		return 0, asInvalid(errBroken, m)
	}
	held, err := count(m.ProtoReflect().Descriptor(), wire)
	if err != nil {
		return 0, r.Budget.refusal(asInvalid(err, m))
	}
	if err := reserved.settle(held.memory + storedCopies*int64(len(wire))); err != nil {
		return 0, r.Budget.refusal(err)
	}
	if err := asInvalid(checkTimes(m.ProtoReflect()), m); err != nil {
		return 0, err
	}
	if r.Check != nil {
		return held.values, r.Check(m)
	}
	return held.values, nil
}

// mostOfJSON is the most memory that a message of a type can take that is decoded from a text.
func mostOfJSON(d protoreflect.MessageDescriptor, text []byte) int64 {
	most := mostOf(shapeOf(d))
	values, _ := countJSON(text)
	objects := bytes.Count(text, []byte{'{'})
	memory := shapeOf(d).memory + int64(objects)*most.message + int64(values)*most.value + int64(len(text)+len(text)/4)
	if most.listsInTexts {
		memory += int64(bytes.Count(text, []byte{','})) * (elementMemory + elementMemory)
	}
	return memory
}

// most is the most that a value of JSON can take of a message of a type, at any depth.
type most struct {
	// message is for an object, and value for any value, beside the bytes of texts.
	message, value int64
	// listsInTexts says that a text can be a list: the paths of a field mask.
	listsInTexts bool
}

// mostOf looks at all the message types that a message can hold.
func mostOf(s *shape) most {
	m := most{value: textMemory}
	seen := make(map[*shape]bool)
	var look func(s *shape)
	look = func(s *shape) {
		if seen[s] {
			return
		}
		seen[s] = true
		m.message = max(m.message, s.memory)
		for _, f := range s.fields {
			if f == nil {
				continue
			}
			m.value = max(m.value, f.memory+textMemory)
			if f.of == nil {
				continue
			}
			switch {
			case f.of.isPair:
				m.value = max(m.value, f.memory+f.of.inline())
			case f.of.fromText:
				m.value = max(m.value, f.memory+f.of.memory+textMemory)
				m.listsInTexts = m.listsInTexts || f.of.lists > 0
			}
			look(f.of)
		}
	}
	look(s)
	return m
}

// inline is what the fields of a pair take, which is no object of its own in JSON.
func (s *shape) inline() (memory int64) {
	for _, f := range s.fields {
		if f != nil {
			memory += f.memory + textMemory
		}
	}
	return memory
}

// textMemory is what a text takes beside its bytes.
const textMemory = 16

// decodeJSON decodes protobuf's JSON. What is not a part of the contract is an error, as in protobuf's binary form.
func decodeJSON(m proto.Message, text []byte) error {
	err := protojson.UnmarshalOptions{RecursionLimit: maxNesting}.Unmarshal(text, m)
	if err == nil {
		return nil
	}
	return apierror.New(compactordv1.ErrorReason_ERROR_REASON_INVALID_FIELD, nil, "the request's JSON: %s", wrongJSON(err, m))
}

// wrongPlace is how protojson begins: with where the JSON is wrong. Its blank can be of any kind.
var wrongPlace = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^proto:.(?:syntax error )?(?:\((line \d+:\d+)\): )?`)
})

// wrongKind is one of the things that can be wrong with JSON.
type wrongKind struct {
	says *regexp.Regexp
	text string
}

// wrongKinds are what can be said of wrong JSON. The texts of protojson itself can quote what the client sent, which may be
// of a conversation.
var wrongKinds = sync.OnceValue(func() []wrongKind {
	return []wrongKind{
		{regexp.MustCompile(`^unknown field "(\w{1,64})"`), "there is no field %s"},
		{regexp.MustCompile(`^invalid value for (\w{1,16}) (?:field|type) (\w{1,64}):`), "the value of %[2]s is no valid %[1]s"},
		{regexp.MustCompile(`^invalid (google\.protobuf\.\w{1,32}) value`), "a value is no valid %s"},
		{regexp.MustCompile(`^error parsing "(\w{1,64})", oneof ([\w.]{1,128}) is already set`), "with %s, more than one field of %s is set"},
		{regexp.MustCompile(`^duplicate field "(\w{1,64})"`), "the field %s is there twice"},
		{regexp.MustCompile(`^google\.protobuf\.FieldMask\.paths contains invalid path`), "a mask names a path that no field can have"},
		{regexp.MustCompile(`^unknown field`), "there is a field that the contract does not have"},
		{regexp.MustCompile(`^duplicate`), "a key is there twice"},
		{regexp.MustCompile(`^invalid value for`), "a value has the wrong type"},
		{regexp.MustCompile(`^exceeded max`), "messages nest too deep"},
		{regexp.MustCompile(`^unexpected token`), "a value has the wrong type, or something is missing"},
	}
})

// wrongJSON says what is wrong with JSON, and where.
func wrongJSON(err error, m proto.Message) string {
	said, what, place := err.Error(), "it is no JSON in UTF-8", ""
	if begins := wrongPlace().FindStringSubmatch(said); begins != nil {
		said = said[len(begins[0]):]
		if begins[1] != "" {
			place = " (" + begins[1] + ")"
		}
	}
	for _, kind := range wrongKinds() {
		found := kind.says.FindStringSubmatch(said)
		if found == nil {
			continue
		}
		names := make([]any, 0, len(found))
		for _, name := range found[1:] {
			names = append(names, name)
		}
		what = fmt.Sprintf(kind.text, names...)
		break
	}
	return fmt.Sprintf("%s%s; it must be a %s", what, place, m.ProtoReflect().Descriptor().Name())
}

// NoLength is the length of a bare message whose client does not say it.
const NoLength = -1
