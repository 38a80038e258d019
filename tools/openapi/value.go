package openapi

import (
	"math"
	"regexp"
	"slices"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// rulesOf returns the rules of a field; an empty set where it has none.
func rulesOf(f protoreflect.FieldDescriptor) *validate.FieldRules {
	rules, _ := proto.GetExtension(f.Options(), validate.E_Field).(*validate.FieldRules)
	return rules
}

func isRequired(o protoreflect.OneofDescriptor) bool {
	rules, _ := proto.GetExtension(o.Options(), validate.E_Oneof).(*validate.OneofRules)
	return rules.GetRequired()
}

// valueSchema is the schema of one value of a field, with the rules for it that JSON Schema knows.
func valueSchema(f protoreflect.FieldDescriptor, rules *validate.FieldRules) object {
	switch f.Kind() {
	case protoreflect.BoolKind:
		return object{{"type", "boolean"}}
	case protoreflect.EnumKind:
		return reference(nameOf(f.Enum())).with(refusedValues(f.Enum(), rules)...)
	case protoreflect.MessageKind:
		return wellKnown(f.Message())
	case protoreflect.StringKind:
		return object{{"type", "string"}}.with(textBounds(rules)...)
	case protoreflect.BytesKind:
		return object{{"type", "string"}, {"contentEncoding", "base64"}}
	case protoreflect.DoubleKind, protoreflect.FloatKind:
		return object{{"type", "number"}}.with(numberBounds(rules.GetDouble())...)
	case protoreflect.Uint32Kind:
		least, most := uint32Bounds(rules)
		return object{{"type", "integer"}, {"minimum", least}, {"maximum", most}}
	case protoreflect.Int32Kind:
		return object{{"type", "integer"}, {"minimum", math.MinInt32}, {"maximum", math.MaxInt32}}
	case protoreflect.Uint64Kind:
		return object{{"type", "string"}, {"pattern", "^[0-9]+$"}, {"format", "uint64"}}
	default:
		return object{{"type", "string"}, {"pattern", "^-?[0-9]+$"}, {"format", "int64"}}
	}
}

const durationPattern = `^-?[0-9]+(\.[0-9]{1,9})?s$`

// wellKnown is the schema of a message where it is the value of a field: those of protobuf itself are texts.
func wellKnown(m protoreflect.MessageDescriptor) object {
	switch m.FullName() {
	case "google.protobuf.Timestamp":
		return object{{"type", "string"}, {"format", "date-time"}}
	case "google.protobuf.Duration":
		return object{{"type", "string"}, {"pattern", durationPattern}}
	case "google.protobuf.FieldMask":
		return object{{"type", "string"}, {"pattern", `^([A-Za-z0-9_.]+(,[A-Za-z0-9_.]+)*)?$`}}
	default:
		return reference(nameOf(m))
	}
}

// textBounds are those of a text. A bound in bytes holds for characters, too: there are never more of them.
func textBounds(rules *validate.FieldRules) (bounds []member) {
	text := rules.GetString()
	if (text.GetMinBytes() > 0 || text.GetMinLen() > 0) && !exempt(rules) {
		bounds = append(bounds, member{"minLength", 1})
	}
	if text.GetMaxBytes() > 0 || text.GetMaxLen() > 0 {
		bounds = append(bounds, member{"maxLength", max(text.GetMaxBytes(), text.GetMaxLen())})
	}
	if text.GetPattern() != "" && !exempt(rules) {
		bounds = append(bounds, member{"pattern", text.GetPattern()})
	}
	return bounds
}

func listBounds(rules *validate.FieldRules) (bounds []member) {
	list := rules.GetRepeated()
	if list.GetMinItems() > 0 && !exempt(rules) {
		bounds = append(bounds, member{"minItems", list.GetMinItems()})
	}
	if list.GetMaxItems() > 0 {
		bounds = append(bounds, member{"maxItems", list.GetMaxItems()})
	}
	return bounds
}

func mapBounds(rules *validate.FieldRules) (bounds []member) {
	if most := rules.GetMap().GetMaxPairs(); most > 0 {
		bounds = append(bounds, member{"maxProperties", most})
	}
	return bounds
}

// keyBounds are those of the keys of a map.
func keyBounds(rules *validate.FieldRules) (bounds []member) {
	if names := textBounds(rules.GetMap().GetKeys()); len(names) > 0 {
		bounds = append(bounds, member{"propertyNames", object(names)})
	}
	return bounds
}

// refusedValues are the values of an enum that a field may not have.
func refusedValues(e protoreflect.EnumDescriptor, rules *validate.FieldRules) (bounds []member) {
	var names []any
	for _, number := range rules.GetEnum().GetNotIn() {
		if value := e.Values().ByNumber(protoreflect.EnumNumber(number)); value != nil && (number != 0 || !exempt(rules)) {
			names = append(names, string(value.Name()))
		}
	}
	if len(names) > 0 {
		bounds = append(bounds, member{"not", object{{"enum", names}}})
	}
	return bounds
}

// refusesNothing says that a field must be given, since its rules refuse what it is otherwise: empty, or the first value of its
// enum.
func refusesNothing(f protoreflect.FieldDescriptor) bool {
	rules := rulesOf(f)
	if f.HasPresence() || exempt(rules) {
		return false
	}
	text := rules.GetString()
	pattern, err := regexp.Compile(text.GetPattern())
	return text.GetMinBytes() > 0 || text.GetMinLen() > 0 || err == nil && !pattern.MatchString("") ||
		rules.GetRepeated().GetMinItems() > 0 || rules.GetMap().GetMinPairs() > 0 ||
		rules.GetUint32().GetGte() > 0 || slices.Contains(rules.GetEnum().GetNotIn(), 0)
}

func uint32Bounds(rules *validate.FieldRules) (least, most uint32) {
	most = math.MaxUint32
	if rules.GetUint32().HasLte() {
		most = rules.GetUint32().GetLte()
	}
	if !exempt(rules) {
		least = rules.GetUint32().GetGte()
	}
	return least, most
}

func numberBounds(rules *validate.DoubleRules) (bounds []member) {
	if rules.HasGte() {
		bounds = append(bounds, member{"minimum", rules.GetGte()})
	}
	if rules.HasGt() {
		bounds = append(bounds, member{"exclusiveMinimum", rules.GetGt()})
	}
	if rules.HasLte() {
		bounds = append(bounds, member{"maximum", rules.GetLte()})
	}
	return bounds
}

// exempt says that an empty value breaks no rule, so that the least one is no bound.
func exempt(rules *validate.FieldRules) bool {
	return rules.GetIgnore() == validate.Ignore_IGNORE_IF_ZERO_VALUE
}
