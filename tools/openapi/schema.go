package openapi

import (
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

func addMessages(schemas map[string]any, messages protoreflect.MessageDescriptors) {
	for i := range messages.Len() {
		m := messages.Get(i)
		if m.IsMapEntry() {
			continue
		}
		schemas[nameOf(m)] = messageSchema(m)
		addMessages(schemas, m.Messages())
		addEnums(schemas, m.Enums())
	}
}

func addEnums(schemas map[string]any, enums protoreflect.EnumDescriptors) {
	for i := range enums.Len() {
		e := enums.Get(i)
		var described strings.Builder
		described.WriteString(commentOf(e) + "\n")
		names := make([]any, e.Values().Len())
		for n := range names {
			value := e.Values().Get(n)
			names[n] = string(value.Name())
			described.WriteString("\n- `" + string(value.Name()) + "`: " + strings.ReplaceAll(commentOf(value), "\n\n", " "))
		}
		schemas[nameOf(e)] = object{{"type", "string"}, {"description", described.String()}, {"enum", names}}
	}
}

// messageSchema is the schema of a message. It is open, since newer daemons may answer with more fields; in requests,
// fields that the contract does not have are errors.
func messageSchema(m protoreflect.MessageDescriptor) object {
	described := []string{commentOf(m)}
	properties := object{}
	var required []any
	for i := range m.Fields().Len() {
		f := m.Fields().Get(i)
		properties = properties.with(member{f.JSONName(), fieldSchema(f)})
		if rulesOf(f).GetRequired() || refusesNothing(f) {
			required = append(required, f.JSONName())
		}
	}
	var choices []any
	for i := range m.Oneofs().Len() {
		o := m.Oneofs().Get(i)
		if o.IsSynthetic() {
			continue
		}
		names := namesOf(o)
		if !isRequired(o) {
			described = append(described, "At most one of `"+strings.Join(names, "`, `")+"` is set.")
			continue
		}
		described = append(described, "One of `"+strings.Join(names, "`, `")+"` is set.")
		var alternatives []any
		for _, name := range names {
			alternatives = append(alternatives, object{{"required", []any{name}}})
		}
		choices = append(choices, object{{"oneOf", alternatives}})
	}
	choices = append(choices, messageRules(m)...)
	schema := object{{"type", "object"}, {"description", strings.Join(described, "\n\n")}, {"properties", properties}}
	if len(required) > 0 {
		schema = schema.with(member{"required", required})
	}
	if len(choices) > 0 {
		schema = schema.with(member{"allOf", choices})
	}
	return schema
}

func namesOf(o protoreflect.OneofDescriptor) (names []string) {
	for i := range o.Fields().Len() {
		names = append(names, o.Fields().Get(i).JSONName())
	}
	return names
}

// fieldSchema is the schema of a field, with its comment.
func fieldSchema(f protoreflect.FieldDescriptor) object {
	rules := rulesOf(f)
	var schema object
	switch {
	case f.IsMap():
		schema = object{{"type", "object"}, {"additionalProperties", valueSchema(f.MapValue(), rules.GetMap().GetValues())}}.
			with(mapBounds(rules)...).with(keyBounds(rules)...)
	case f.IsList():
		schema = object{{"type", "array"}, {"items", valueSchema(f, rules.GetRepeated().GetItems())}}.with(listBounds(rules)...)
	default:
		schema = valueSchema(f, rules)
	}
	return schema.with(member{"description", commentOf(f)})
}

// nameOf returns the name of a message or an enum without its package.
func nameOf(d protoreflect.Descriptor) string {
	return strings.TrimPrefix(string(d.FullName()), string(d.ParentFile().Package())+".")
}

func reference(name string) object { return object{{"$ref", "#/components/schemas/" + name}} }

// commentOf returns the comment of a descriptor, each paragraph as one line.
func commentOf(d protoreflect.Descriptor) string {
	comment := d.ParentFile().SourceLocations().ByDescriptor(d).LeadingComments
	var paragraphs []string
	for paragraph := range strings.SplitSeq(comment, "\n\n") {
		if text := strings.Join(strings.Fields(paragraph), " "); text != "" {
			paragraphs = append(paragraphs, text)
		}
	}
	return strings.Join(paragraphs, "\n\n")
}
