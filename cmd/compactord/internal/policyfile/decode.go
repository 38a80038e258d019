// Package policyfile reads policies that people write, as YAML or JSON with the fields of the contract.
package policyfile

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Decode reads a policy from a value of YAML, with the names of fields in the contract or in its JSON. It returns an error
// for each wrong key and each value of another type, under its path, which begins with the given one. The errors quote no
// value.
func Decode(path string, value any) (*compactordv1.Policy, []error) {
	// The decoder of a file makes mappings within a mapping of its type.
	text, err := yaml.Marshal(value)
	if err == nil {
		value = nil
		err = yaml.Unmarshal(text, &value)
	}
	if err != nil {
		return nil, []error{fmt.Errorf("%s cannot be read", path)}
	}
	policy := &compactordv1.Policy{}
	return policy, decodeInto(policy.ProtoReflect(), path, value)
}

func decodeInto(m protoreflect.Message, path string, value any) []error {
	if value == nil {
		return nil
	}
	given, is := value.(map[string]any)
	if !is {
		return []error{fmt.Errorf("%s must be a mapping of %s", path, fieldsOf(m.Descriptor()))}
	}
	var problems []error
	for _, key := range slices.Sorted(maps.Keys(given)) {
		at := path + "." + key
		f := fieldOf(m.Descriptor(), key)
		switch {
		case f == nil:
			problems = append(problems, fmt.Errorf("%s has no key %q; there are %s", path, key, fieldsOf(m.Descriptor())))
		case m.Has(f):
			problems = append(problems, fmt.Errorf("%s is given twice", at))
		case of(f) != nil && m.WhichOneof(of(f)) != nil:
			problems = append(problems, fmt.Errorf("%s excludes %s", at, m.WhichOneof(of(f)).Name()))
		case given[key] != nil:
			problems = append(problems, decodeField(m, f, at, given[key])...)
		}
	}
	return problems
}

// fieldOf returns the field with a name; nil if there is none.
func fieldOf(d protoreflect.MessageDescriptor, name string) protoreflect.FieldDescriptor {
	if f := d.Fields().ByName(protoreflect.Name(name)); f != nil {
		return f
	}
	return d.Fields().ByJSONName(name)
}

// of returns the oneof of a field; nil for a field that is optional only.
func of(f protoreflect.FieldDescriptor) protoreflect.OneofDescriptor {
	if o := f.ContainingOneof(); o != nil && !o.IsSynthetic() {
		return o
	}
	return nil
}

func fieldsOf(d protoreflect.MessageDescriptor) string {
	names := make([]string, d.Fields().Len())
	for i := range names {
		names[i] = string(d.Fields().Get(i).Name())
	}
	return strings.Join(names, ", ")
}

func decodeField(m protoreflect.Message, f protoreflect.FieldDescriptor, path string, value any) []error {
	switch {
	case !ofMessages(f):
		return asProblems(decodeScalar(m, f, path, value))
	case !f.IsList():
		field := m.Mutable(f).Message()
		return decodeInto(field, path, value)
	}
	elements, is := value.([]any)
	if !is {
		return []error{fmt.Errorf("%s must be a list", path)}
	}
	var problems []error
	list := m.Mutable(f).List()
	for i, element := range elements {
		problems = append(problems, decodeInto(list.AppendMutable().Message(), fmt.Sprintf("%s[%d]", path, i), element)...)
	}
	return problems
}

// ofMessages says whether a field holds messages with keys of their own.
func ofMessages(f protoreflect.FieldDescriptor) bool {
	return f.Message() != nil && !f.IsMap() && f.Message().ParentFile().Package() != "google.protobuf"
}

func asProblems(err error) []error {
	if err == nil {
		return nil
	}
	return []error{err}
}

// decodeScalar has protojson read a field without keys of its own.
func decodeScalar(m protoreflect.Message, f protoreflect.FieldDescriptor, path string, value any) error {
	text, err := json.Marshal(map[string]any{f.JSONName(): value})
	alone := m.New()
	if err == nil {
		err = protojson.Unmarshal(text, alone.Interface())
	}
	if err != nil {
		return errors.New(path + " must be " + wanted(f))
	}
	m.Set(f, alone.Get(f))
	return nil
}

// kindTexts describe the values of a kind; those of all others are whole numbers.
var kindTexts = map[protoreflect.Kind]string{
	protoreflect.BoolKind: "true or false", protoreflect.StringKind: "a text", protoreflect.DoubleKind: "a number",
	protoreflect.MessageKind: "a time in seconds, such as 90s",
}

// wanted describes the values of a field.
func wanted(f protoreflect.FieldDescriptor) string {
	one := cmp.Or(kindTexts[f.Kind()], "a whole number")
	if f.Enum() != nil {
		one = "one of " + valuesOf(f.Enum())
	}
	switch {
	case f.IsMap():
		return "a mapping"
	case f.IsList():
		return "a list, each element " + one
	default:
		return one
	}
}

func valuesOf(d protoreflect.EnumDescriptor) string {
	var names []string
	for i := range d.Values().Len() {
		if v := d.Values().Get(i); v.Number() != 0 {
			names = append(names, string(v.Name()))
		}
	}
	return strings.Join(names, ", ")
}
