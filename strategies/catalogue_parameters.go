package strategies

import (
	"strconv"
	"strings"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// parameterOf describes a field of a strategy by its comment, its constraints and its default.
func parameterOf(f protoreflect.FieldDescriptor, resolved protoreflect.Message) *compactordv1.ParameterInfo {
	info := &compactordv1.ParameterInfo{
		Name: string(f.Name()), Type: typeOf(f), Description: descriptions[string(f.FullName())],
	}
	if resolved.Has(f) && !f.IsList() {
		info.DefaultValue = plain(f, resolved.Get(f))
	}
	if f.Enum() != nil {
		info.Values = valuesOf(f.Enum())
	}
	info.Minimum, info.Maximum = rangeOf(f)
	return info
}

func typeOf(f protoreflect.FieldDescriptor) string {
	switch {
	case f.IsList() && f.Message() != nil:
		return "strategies"
	case f.IsList():
		return "strings"
	default:
		return f.Kind().String()
	}
}

// plain returns a scalar in the notation of policies.
func plain(f protoreflect.FieldDescriptor, v protoreflect.Value) string {
	if f.Enum() != nil {
		return valueName(f.Enum(), f.Enum().Values().ByNumber(v.Enum()).Name())
	}
	if f.Kind() == protoreflect.DoubleKind {
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	}
	return v.String()
}

// valuesOf returns the names of an enum's values, without the unspecified one.
func valuesOf(e protoreflect.EnumDescriptor) []string {
	var names []string
	for i := range e.Values().Len() {
		if v := e.Values().Get(i); v.Number() != 0 {
			names = append(names, valueName(e, v.Name()))
		}
	}
	return names
}

// valueName returns the name of an enum's value without the prefix, which is the name of the enum.
func valueName(e protoreflect.EnumDescriptor, value protoreflect.Name) string {
	prefix := make([]rune, 0, 2*len(e.Name()))
	for i, r := range string(e.Name()) {
		if i > 0 && 'A' <= r && r <= 'Z' {
			prefix = append(prefix, '_')
		}
		prefix = append(prefix, r)
	}
	return strings.TrimPrefix(string(value), strings.ToUpper(string(prefix))+"_")
}

// rangeOf returns the range that the contract's constraints allow; nil where they set no bound.
func rangeOf(f protoreflect.FieldDescriptor) (least, most *float64) {
	rules, ok := proto.GetExtension(f.Options(), validate.E_Field).(*validate.FieldRules)
	if !ok {
		return nil, nil
	}
	switch {
	case rules.GetUint32() != nil:
		// Without a rule for the lower bound, the type gives it.
		return proto.Float64(float64(rules.GetUint32().GetGte())), proto.Float64(float64(rules.GetUint32().GetLte()))
	case rules.GetDouble() != nil:
		return proto.Float64(rules.GetDouble().GetGte()), proto.Float64(rules.GetDouble().GetLte())
	case rules.GetString() != nil:
		return nil, proto.Float64(float64(rules.GetString().GetMaxBytes()))
	case rules.GetRepeated() != nil:
		return proto.Float64(float64(rules.GetRepeated().GetMinItems())), proto.Float64(float64(rules.GetRepeated().GetMaxItems()))
	default:
		return nil, nil
	}
}
