package requests

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// requestTypes are requests that hold every kind of field.
var requestTypes = []proto.Message{
	&compactordv1.AppendMessagesRequest{}, &compactordv1.CreateSessionRequest{}, &compactordv1.CompactRequest{},
	&compactordv1.GetLLMViewRequest{}, &compactordv1.CommitCompactionRequest{}, &compactordv1.PinMessagesRequest{},
	&compactordv1.ListSessionsRequest{}, &compactordv1.UpdateSessionRequest{}, &compactordv1.SearchMessagesRequest{},
}

// The count before decoding is never below what decoding yields, whatever the bytes are, and bytes that hold unknown
// fields or are broken are never counted.
func TestCountIsNeverBelowWhatDecodingYields(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		decoded := proto.CloneOf(rapid.SampledFrom(requestTypes).Draw(t, "type"))
		wire := drawWire(t, decoded.ProtoReflect().Descriptor(), 6)
		if rapid.IntRange(0, 9).Draw(t, "broken") == 0 && len(wire) > 0 {
			at := rapid.IntRange(0, len(wire)-1).Draw(t, "at")
			wire[at] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		}
		held, err := count(decoded.ProtoReflect().Descriptor(), wire)
		broken := proto.Unmarshal(wire, decoded)
		if err != nil {
			return
		}
		// Text that is not UTF-8 is left to the decoder.
		if broken != nil {
			require.ErrorContains(t, broken, "invalid UTF-8")
			return
		}
		values, unknown := valuesOf(decoded.ProtoReflect())
		require.False(t, unknown, "counted though it holds unknown fields")
		require.LessOrEqual(t, values, held.values)
		require.LessOrEqual(t, memoryTaken(reflect.ValueOf(decoded)), held.memory)
	})
}

// Bytes that are a message without unknown fields are counted, and those of a newer contract are refused.
func TestWhatIsCounted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		decoded := proto.CloneOf(rapid.SampledFrom(requestTypes).Draw(t, "type"))
		wire := drawWire(t, decoded.ProtoReflect().Descriptor(), 6)
		_, err := count(decoded.ProtoReflect().Descriptor(), wire)
		if err != nil {
			require.ErrorContains(t, err, "must have at most")
			return
		}
		wire = protowire.AppendTag(wire, 900, protowire.VarintType)
		wire = protowire.AppendVarint(wire, 1)
		_, err = count(decoded.ProtoReflect().Descriptor(), wire)
		require.EqualError(t, err, "900: this daemon does not know this field")
	})
}

// drawWire draws the bytes of a message as no well-behaved client would write them: fields repeat and stand in any
// order, and lists of numbers are packed, unpacked or both.
func drawWire(t *rapid.T, d protoreflect.MessageDescriptor, levels int) []byte {
	var wire []byte
	if levels == 0 || d.Fields().Len() == 0 {
		return wire
	}
	for range rapid.IntRange(0, 5).Draw(t, "fields") {
		f := d.Fields().Get(rapid.IntRange(0, d.Fields().Len()-1).Draw(t, "field"))
		wireType := wireTypes[f.Kind()]
		if f.IsList() && wireType != protowire.BytesType && rapid.Bool().Draw(t, "packed") {
			var content []byte
			for range rapid.IntRange(0, 20).Draw(t, "numbers") {
				content = appendNumber(t, content, wireType)
			}
			wire = protowire.AppendBytes(protowire.AppendTag(wire, f.Number(), protowire.BytesType), content)
			continue
		}
		wire = protowire.AppendTag(wire, f.Number(), wireType)
		switch {
		case f.Message() != nil:
			wire = protowire.AppendBytes(wire, drawWire(t, f.Message(), levels-1))
		case wireType == protowire.BytesType:
			wire = protowire.AppendString(wire, strings.Repeat("x", rapid.IntRange(0, 40).Draw(t, "text")))
		default:
			wire = appendNumber(t, wire, wireType)
		}
	}
	return wire
}

func appendNumber(t *rapid.T, wire []byte, wireType protowire.Type) []byte {
	n := rapid.Uint64().Draw(t, "number")
	switch wireType {
	case protowire.Fixed32Type:
		return protowire.AppendFixed32(wire, uint32(n))
	case protowire.Fixed64Type:
		return protowire.AppendFixed64(wire, n)
	default:
		return protowire.AppendVarint(wire, n)
	}
}

// valuesOf counts nested messages, elements of lists and pairs of maps, and says whether there are unknown fields.
func valuesOf(m protoreflect.Message) (n int, unknown bool) {
	unknown = len(m.GetUnknown()) > 0
	inner := func(v protoreflect.Value) {
		more, u := valuesOf(v.Message())
		n, unknown = n+more, unknown || u
	}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.IsMap():
			n += v.Map().Len()
		case f.IsList():
			n += v.List().Len()
			for i := 0; f.Message() != nil && i < v.List().Len(); i++ {
				inner(v.List().Get(i))
			}
		case f.Message() != nil:
			n++
			inner(v)
		}
		return true
	})
	return n, unknown
}

// memoryTaken adds up what a value and all that it points to were allocated.
func memoryTaken(v reflect.Value) int64 {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return 0
		}
		return rounded(v.Type().Elem().Size()) + memoryTaken(v.Elem())
	case reflect.Interface:
		return memoryTaken(v.Elem())
	case reflect.String:
		return rounded(uintptr(v.Len()))
	case reflect.Slice:
		total := rounded(uintptr(v.Cap()) * v.Type().Elem().Size())
		for i := range v.Len() {
			total += memoryTaken(v.Index(i))
		}
		return total
	case reflect.Map:
		if v.IsNil() {
			return 0
		}
		// Its slots are at least half full where it has more than a few.
		total := int64(48 + 2*v.Len()*int(v.Type().Key().Size()+v.Type().Elem().Size()+1))
		for pairs := v.MapRange(); pairs.Next(); {
			total += memoryTaken(pairs.Key()) + memoryTaken(pairs.Value())
		}
		return total
	case reflect.Struct:
		total := int64(0)
		for i := range v.NumField() {
			// The state of a message points to what all messages of its type share.
			if v.Type().Field(i).Name != "state" {
				total += memoryTaken(v.Field(i))
			}
		}
		return total
	default:
		return 0
	}
}

// rounded returns what the allocator takes for so many bytes.
func rounded(bytes uintptr) int64 {
	if bytes == 0 {
		return 0
	}
	return int64(cap(append([]byte(nil), make([]byte, bytes)...)))
}

// A JSON text is never counted with fewer values or levels than a parser finds.
func TestCountedJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, err := json.Marshal(drawJSON(t, 5))
		require.NoError(t, err)
		values, depth := countJSON(text)
		wantValues, wantDepth := parsed(t, text)
		require.GreaterOrEqual(t, values, wantValues)
		require.Equal(t, wantDepth, depth)
	})
}

func drawJSON(t *rapid.T, levels int) any {
	kinds := 2
	if levels > 0 {
		kinds = 4
	}
	text := rapid.SampledFrom([]string{"", `"`, `\`, `\"`, "[", "}", ",", "plain", `a\\"b`})
	switch rapid.IntRange(1, kinds).Draw(t, "kind") {
	case 1:
		return rapid.Int().Draw(t, "number")
	case 2:
		return text.Draw(t, "text")
	case 3:
		list := []any{}
		for range rapid.IntRange(0, 4).Draw(t, "elements") {
			list = append(list, drawJSON(t, levels-1))
		}
		return list
	default:
		object := map[string]any{}
		for range rapid.IntRange(0, 4).Draw(t, "fields") {
			object[text.Draw(t, "key")] = drawJSON(t, levels-1)
		}
		return object
	}
}

func parsed(t *rapid.T, text []byte) (values, depth int) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	open := 0
	// In an object, every second token is a key.
	for decoder.More() || open > 0 {
		token, err := decoder.Token()
		require.NoError(t, err)
		switch token {
		case json.Delim('['), json.Delim('{'):
			values++
			open++
			depth = max(depth, open)
		case json.Delim(']'), json.Delim('}'):
			open--
		default:
			values++
		}
	}
	var whole any
	require.NoError(t, json.Unmarshal(text, &whole))
	return values - keysIn(whole), depth
}

func keysIn(v any) int {
	n := 0
	switch v := v.(type) {
	case []any:
		for _, element := range v {
			n += keysIn(element)
		}
	case map[string]any:
		for _, value := range v {
			n += 1 + keysIn(value)
		}
	}
	return n
}

// The contract's bounds of lists hold before decoding, with the path that the contract's rules give.
func TestListsOverTheirBounds(t *testing.T) {
	deep := &compactordv1.AppendMessagesRequest{Messages: []*compactordv1.Message{{}, {Parts: []*compactordv1.Part{{
		Kind: &compactordv1.Part_ToolResult{ToolResult: &compactordv1.ToolResult{
			Parts: make([]*compactordv1.ResultPart, 1001),
		}},
	}}}}}
	for path, req := range map[string]proto.Message{
		"messages":                               &compactordv1.AppendMessagesRequest{Messages: make([]*compactordv1.Message, 10001)},
		"messages[1].parts[0].tool_result.parts": deep,
		"history.messages": &compactordv1.CompactRequest{Target: &compactordv1.CompactRequest_History{
			History: &compactordv1.InlineHistory{Messages: make([]*compactordv1.Message, 100001)},
		}},
		"client_plan.edits": &compactordv1.CommitCompactionRequest{ClientPlan: &compactordv1.ClientPlan{
			Edits: make([]*compactordv1.Edit, 100001),
		}},
	} {
		wire, err := proto.Marshal(req)
		require.NoError(t, err)
		_, err = count(req.ProtoReflect().Descriptor(), wire)
		var wrong *fieldError
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, path, wrong.path)
		require.Contains(t, wrong.what, "must have at most")
	}
}

// Values add up over the whole request, also where each list is within its bound.
func TestValuesOfAWholeRequest(t *testing.T) {
	full := &compactordv1.Message{Parts: make([]*compactordv1.Part, 10000)}
	req := &compactordv1.AppendMessagesRequest{}
	for range maxValues/10000 + 1 {
		req.Messages = append(req.Messages, full)
	}
	requireLimit(t, req, "max_request_values")
	requireLimit(t, &compactordv1.AppendMessagesRequest{ProviderJson: &compactordv1.ProviderJson{
		Json: "[" + strings.Repeat("{},", maxJSONValues/2+1) + "{}]",
	}}, "max_json_values")
}

func requireLimit(t *testing.T, req proto.Message, limit string) {
	t.Helper()
	wire, err := proto.Marshal(req)
	require.NoError(t, err)
	_, err = count(req.ProtoReflect().Descriptor(), wire)
	require.Equal(t, limit, limitIn(t, err))
}

// Nesting is bounded: of messages and of JSON that the daemon parses. What a model wrote as arguments may be anything.
func TestNesting(t *testing.T) {
	section := &compactordv1.Section{}
	for range maxNesting {
		section = &compactordv1.Section{Subsections: []*compactordv1.Section{section}}
	}
	deep := strings.Repeat("[", maxJSONNesting+1) + strings.Repeat("]", maxJSONNesting+1)
	messageWith := func(part *compactordv1.Part) proto.Message {
		return &compactordv1.AppendMessagesRequest{Messages: []*compactordv1.Message{{Parts: []*compactordv1.Part{part}}}}
	}
	for name, test := range map[string]struct {
		req     proto.Message
		refused bool
	}{
		"sections": {&compactordv1.CompactRequest{Policy: &compactordv1.Policy{Summary: &compactordv1.SummaryPolicy{
			Sections: &compactordv1.SectionList{Sections: []*compactordv1.Section{section}},
		}}}, true},
		"provider JSON": {&compactordv1.AppendMessagesRequest{
			ProviderJson: &compactordv1.ProviderJson{Json: deep},
		}, true},
		"attachment": {messageWith(&compactordv1.Part{Attachments: []*compactordv1.Attachment{{Json: deep}}}), true},
		"arguments": {messageWith(&compactordv1.Part{Kind: &compactordv1.Part_ToolCall{
			ToolCall: &compactordv1.ToolCall{Arguments: deep},
		}}), false},
	} {
		t.Run(name, func(t *testing.T) {
			wire, err := proto.Marshal(test.req)
			require.NoError(t, err)
			_, err = count(test.req.ProtoReflect().Descriptor(), wire)
			if test.refused {
				require.ErrorContains(t, err, "deeper than")
			} else {
				require.NoError(t, err)
			}
		})
	}
}
