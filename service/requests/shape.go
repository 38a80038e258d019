package requests

import (
	"reflect"
	"slices"
	"sync"

	"buf.build/go/protovalidate"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// shape is what counting needs to know of a message type.
type shape struct {
	// fields has the fields by number; nil where there is none.
	fields []*field
	// lists is how many fields are lists.
	lists int
	// memory is what an empty message takes.
	memory int64
	// isPair marks the pairs of maps: decoding ignores their unknown fields.
	isPair bool
	// fromText marks the messages that are a text in JSON.
	fromText bool
	// timed are the fields that are times or durations, or whose messages hold some.
	timed []protoreflect.FieldDescriptor
}

// field is what counting needs to know of a field.
type field struct {
	name string
	// wire is the wire type of one value.
	wire protowire.Type
	// list says that the field has several values, and slot is its place among the message's lists.
	list bool
	slot int
	// maxItems is the contract's bound for a list; 0 where it has none.
	maxItems int
	// of is the shape of a message or of a map's pair; nil for other kinds.
	of *shape
	// memory is what a value takes beside its bytes and its message.
	memory int64
	json   jsonUse
}

// What a value takes beside its content: an element of a list, which may have grown to twice its length; a pair of a
// map; the pointer or wrapper of a field with presence, and the rounding of its allocation.
const (
	elementMemory  = 32
	pairMemory     = 160
	presenceMemory = 32
	unknownMemory  = 512
)

// jsonUse says what the daemon does with the JSON in a field.
type jsonUse int

const (
	noJSON jsonUse = iota
	// jsonByModels is kept as it is, even where it is no JSON.
	jsonByModels
	// keptJSON is kept, and parsed where views show it.
	keptJSON
	// readJSON is read into messages.
	readJSON
)

var jsonFields = map[protoreflect.FullName]jsonUse{
	"compactord.v1.ToolCall.arguments":       jsonByModels,
	"compactord.v1.Attachment.json":          keptJSON,
	"compactord.v1.OpaquePart.json":          keptJSON,
	"compactord.v1.SummaryPolicy.tools_json": keptJSON,
	"compactord.v1.ProviderJson.json":        readJSON,
}

// known are the shapes that were needed so far, by the full name of the message type.
var known = registry{byName: make(map[protoreflect.FullName]*shape)}

type registry struct {
	mu     sync.RWMutex
	byName map[protoreflect.FullName]*shape
}

// shapeOf returns the shape of a message type.
func shapeOf(d protoreflect.MessageDescriptor) *shape {
	known.mu.RLock()
	s := known.byName[d.FullName()]
	known.mu.RUnlock()
	if s != nil {
		return s
	}
	known.mu.Lock()
	defer known.mu.Unlock()
	return known.add(d)
}

// add returns the shape of a message type, and makes it where it is new. A message type can hold itself, so a shape is
// known before it is complete; the lock hides it until then.
func (r *registry) add(d protoreflect.MessageDescriptor) *shape {
	if s := r.byName[d.FullName()]; s != nil {
		return s
	}
	s := &shape{memory: memoryOf(d), isPair: d.IsMapEntry(), fromText: slices.Contains(textNames, d.FullName())}
	r.byName[d.FullName()] = s
	for i := range d.Fields().Len() {
		f := d.Fields().Get(i)
		number := int(f.Number())
		if number >= len(s.fields) {
			s.fields = append(s.fields, make([]*field, number+1-len(s.fields))...)
		}
		s.fields[number] = s.newField(f)
		if f.Message() == nil {
			continue
		}
		s.fields[number].of = r.add(f.Message())
		if !f.IsMap() && holdsTimes(f.Message(), make(map[protoreflect.FullName]bool)) {
			s.timed = append(s.timed, f)
		}
	}
	return s
}

func (s *shape) newField(f protoreflect.FieldDescriptor) *field {
	made := &field{
		name: string(f.Name()), wire: wireTypes[f.Kind()], list: f.Cardinality() == protoreflect.Repeated,
		json: jsonFields[f.FullName()],
	}
	switch {
	case f.IsMap():
		made.memory = pairMemory
	case made.list:
		made.memory = elementMemory
	case f.HasPresence():
		made.memory = presenceMemory
	}
	if made.list {
		made.slot = s.lists
		s.lists++
		made.maxItems = maxItems(f)
	}
	return made
}

// maxItems returns the contract's bound of a list. Pairs of a map may repeat a key, so their bound is left to the rules.
func maxItems(f protoreflect.FieldDescriptor) int {
	rules, err := protovalidate.ResolveFieldRules(f)
	if err != nil || f.IsMap() {
		return 0
	}
	return int(rules.GetRepeated().GetMaxItems())
}

// memoryOf returns what an empty message takes, as the allocator rounds it.
func memoryOf(d protoreflect.MessageDescriptor) int64 {
	if d.IsMapEntry() {
		return 0
	}
	registered, err := protoregistry.GlobalTypes.FindMessageByName(d.FullName())
	if err != nil {
		return unknownMemory
	}
	size := int64(reflect.TypeOf(registered.Zero().Interface()).Elem().Size())
	return size + size/4 + 16
}

const (
	timestampName protoreflect.FullName = "google.protobuf.Timestamp"
	durationName  protoreflect.FullName = "google.protobuf.Duration"
	maskName      protoreflect.FullName = "google.protobuf.FieldMask"
)

// textNames are the messages that JSON writes as texts.
var textNames = []protoreflect.FullName{timestampName, durationName, maskName}

// holdsTimes says whether a message type is a time or a duration, or holds some at any depth.
func holdsTimes(d protoreflect.MessageDescriptor, seen map[protoreflect.FullName]bool) bool {
	name := d.FullName()
	if name == timestampName || name == durationName {
		return true
	}
	if seen[name] {
		return false
	}
	seen[name] = true
	for i := range d.Fields().Len() {
		f := d.Fields().Get(i)
		if f.Message() != nil && !f.IsMap() && holdsTimes(f.Message(), seen) {
			return true
		}
	}
	return false
}

var wireTypes = map[protoreflect.Kind]protowire.Type{
	protoreflect.BoolKind: protowire.VarintType, protoreflect.EnumKind: protowire.VarintType,
	protoreflect.Int32Kind: protowire.VarintType, protoreflect.Sint32Kind: protowire.VarintType,
	protoreflect.Uint32Kind: protowire.VarintType, protoreflect.Int64Kind: protowire.VarintType,
	protoreflect.Sint64Kind: protowire.VarintType, protoreflect.Uint64Kind: protowire.VarintType,
	protoreflect.Sfixed32Kind: protowire.Fixed32Type, protoreflect.Fixed32Kind: protowire.Fixed32Type,
	protoreflect.FloatKind: protowire.Fixed32Type, protoreflect.Sfixed64Kind: protowire.Fixed64Type,
	protoreflect.Fixed64Kind: protowire.Fixed64Type, protoreflect.DoubleKind: protowire.Fixed64Type,
	protoreflect.StringKind: protowire.BytesType, protoreflect.BytesKind: protowire.BytesType,
	protoreflect.MessageKind: protowire.BytesType, protoreflect.GroupKind: protowire.StartGroupType,
}
