package requests

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// What keepsRules lets through, the contract's rules let through, whichever field is at or beyond a bound. It lets through
// requests as clients send them.
func TestKeepsRulesAsTheRulesDo(t *testing.T) {
	validator, err := contractRules()
	require.NoError(t, err)
	for _, req := range plainRequests() {
		require.NoError(t, validator.Validate(req))
		require.True(t, keepsRules(req), req)
		kept, broken := 0, 0
		eachChange(req.ProtoReflect(), 3, func(field protoreflect.FullName) {
			if keepsRules(req) {
				kept++
				require.NoError(t, validator.Validate(req), field)
			} else {
				broken++
			}
		})
		require.Positive(t, kept)
		require.Positive(t, broken)
	}
}

// plainRequests are requests as keepsRules knows them.
func plainRequests() []proto.Message {
	text := func() *compactordv1.TextPart { return &compactordv1.TextPart{Text: "a text"} }
	said := func(role compactordv1.Role) *compactordv1.Message {
		return &compactordv1.Message{Role: role, Parts: []*compactordv1.Part{{Kind: &compactordv1.Part_Text{Text: text()}}}}
	}
	answer := said(compactordv1.Role_ROLE_ASSISTANT)
	answer.StopReason, answer.Usage, answer.Model = compactordv1.StopReason_STOP_REASON_END, &compactordv1.Usage{InputTokens: 1}, "model"
	answer.Parts = append(answer.Parts,
		&compactordv1.Part{Kind: &compactordv1.Part_Thinking{Thinking: &compactordv1.ThinkingPart{Text: "hm"}}, Attachments: []*compactordv1.Attachment{
			{Dialect: compactordv1.Dialect_DIALECT_ANTHROPIC, Key: "signature", Json: `"x"`},
		}},
		&compactordv1.Part{Kind: &compactordv1.Part_ToolCall{ToolCall: &compactordv1.ToolCall{Id: "c", Name: "read", Arguments: "{}"}}})
	result := &compactordv1.Message{Role: compactordv1.Role_ROLE_TOOL, Parts: []*compactordv1.Part{
		{Kind: &compactordv1.Part_ToolResult{ToolResult: &compactordv1.ToolResult{CallId: "c", Name: "read", Parts: []*compactordv1.ResultPart{
			{Kind: &compactordv1.ResultPart_Text{Text: text()}},
		}}}},
	}}
	requests := []proto.Message{
		&compactordv1.AppendMessagesRequest{SessionId: "s", ProviderJson: &compactordv1.ProviderJson{
			Dialect: compactordv1.Dialect_DIALECT_GEMINI, Json: "{}", Model: "model",
		}},
		&compactordv1.InlineHistory{Messages: []*compactordv1.Message{said(compactordv1.Role_ROLE_USER)}},
	}
	for _, m := range []*compactordv1.Message{
		said(compactordv1.Role_ROLE_SYSTEM), said(compactordv1.Role_ROLE_DEVELOPER), said(compactordv1.Role_ROLE_USER), answer, result,
	} {
		requests = append(requests, &compactordv1.AppendMessagesRequest{
			SessionId: "s", RequestId: "r", ViewToken: "t", Messages: []*compactordv1.Message{m},
		})
	}
	return requests
}

// eachChange sets each field of a message, and of those within it, to values around the bounds of the contract, one at a
// time, and calls visit with each. Messages that are not set are set up to deep ones within each other.
func eachChange(m protoreflect.Message, deep int, visit func(field protoreflect.FullName)) {
	for i := range m.Descriptor().Fields().Len() {
		f := m.Descriptor().Fields().Get(i)
		restore := remember(m, f)
		switch {
		case f.IsList() && f.Message() != nil:
			eachLength(m, f, deep, visit)
		case f.Message() != nil && (m.Has(f) || deep > 0):
			less := deep
			if !m.Has(f) {
				less--
			}
			inner := m.Mutable(f).Message()
			visit(f.FullName())
			eachChange(inner, less, visit)
			m.Clear(f)
			visit(f.FullName())
		case f.Message() == nil && !f.IsList():
			for _, value := range around(f) {
				m.Set(f, value)
				visit(f.FullName())
			}
		}
		restore()
	}
}

// remember returns what sets a field, and the oneof that it belongs to, to what they are now.
func remember(m protoreflect.Message, f protoreflect.FieldDescriptor) (restore func()) {
	if of := f.ContainingOneof(); of != nil {
		if set := m.WhichOneof(of); set != nil {
			f = set
		}
	}
	if !m.Has(f) {
		return func() { m.Clear(f) }
	}
	value := m.Get(f)
	if f.IsList() {
		value = protoreflect.ValueOfList(itemsOf(m, f))
	}
	return func() { m.Set(f, value) }
}

// itemsOf returns a list of a field's items that stays as it is when the field is set.
func itemsOf(m protoreflect.Message, f protoreflect.FieldDescriptor) protoreflect.List {
	items := m.NewField(f).List()
	for i := range m.Get(f).List().Len() {
		items.Append(m.Get(f).List().Get(i))
	}
	return items
}

// eachLength is eachChange for a list: of the lengths around bounds, and for each of its items.
func eachLength(m protoreflect.Message, f protoreflect.FieldDescriptor, deep int, visit func(field protoreflect.FullName)) {
	list := itemsOf(m, f)
	if list.Len() == 0 {
		if deep--; deep < 0 {
			return
		}
		list.AppendMutable()
	}
	m.Set(f, protoreflect.ValueOfList(list))
	for i := range list.Len() {
		eachChange(list.Get(i).Message(), deep, visit)
	}
	for _, n := range []int{0, 1, 64, 65, 1000, 1001, 10_000, 10_001} {
		longer := m.NewField(f).List()
		for range n {
			longer.Append(list.Get(0))
		}
		m.Set(f, protoreflect.ValueOfList(longer))
		visit(f.FullName())
	}
}

// around returns values of a field around the bounds of the contract.
func around(f protoreflect.FieldDescriptor) (values []protoreflect.Value) {
	switch f.Kind() {
	case protoreflect.BoolKind:
		return []protoreflect.Value{protoreflect.ValueOfBool(true)}
	case protoreflect.EnumKind:
		for n := -1; n <= f.Enum().Values().Len(); n++ {
			values = append(values, protoreflect.ValueOfEnum(protoreflect.EnumNumber(n)))
		}
	case protoreflect.StringKind:
		for _, most := range []int{0, 128, 256, 512, 1024, 64 << 10, 32 << 20, 64 << 20} {
			values = append(values, protoreflect.ValueOfString(longest[:most]), protoreflect.ValueOfString(longest[:most+1]))
		}
		for _, letter := range []string{" ", "!", "~", "\x7f", "é"} {
			values = append(values, protoreflect.ValueOfString("x"+letter))
		}
	case protoreflect.Uint32Kind:
		return []protoreflect.Value{protoreflect.ValueOfUint32(0), protoreflect.ValueOfUint32(math.MaxUint32)}
	default:
	}
	return values
}

var longest = strings.Repeat("x", 64<<20+1)

// keepsRules knows the rules of the messages that it lets through. Where this test fails, a rule or a field is new: look at
// keepsRules before you set the sum.
func TestKeptRulesAreKnown(t *testing.T) {
	var rules []string
	for _, m := range []proto.Message{
		&compactordv1.AppendMessagesRequest{}, &compactordv1.InlineHistory{}, &compactordv1.ProviderJson{}, &compactordv1.Usage{},
		&compactordv1.Message{}, &compactordv1.Part{}, &compactordv1.TextPart{}, &compactordv1.ThinkingPart{}, &compactordv1.ToolCall{},
		&compactordv1.ToolResult{}, &compactordv1.ResultPart{}, &compactordv1.Attachment{},
	} {
		rules = append(rules, rulesOf(t, m.ProtoReflect().Descriptor())...)
	}
	for _, e := range []protoreflect.Enum{
		compactordv1.Role(0), compactordv1.Origin(0), compactordv1.StopReason(0), compactordv1.Dialect(0),
	} {
		for i := range e.Descriptor().Values().Len() {
			rules = append(rules, string(e.Descriptor().Values().Get(i).FullName()))
		}
	}
	sum := sha256.Sum256([]byte(strings.Join(rules, "\n")))
	require.Equal(t, "b938c38c", hex.EncodeToString(sum[:4]), strings.Join(rules, "\n"))
}

// rulesOf returns the fields of a kind of message with their rules, and those of the kind itself.
func rulesOf(t *testing.T, d protoreflect.MessageDescriptor) (rules []string) {
	t.Helper()
	// Its text form has random spaces.
	encoded := func(options protoreflect.ProtoMessage) string {
		bytes, err := proto.MarshalOptions{Deterministic: true}.Marshal(options)
		require.NoError(t, err)
		return hex.EncodeToString(bytes)
	}
	rules = append(rules, string(d.FullName())+" "+encoded(d.Options()))
	for i := range d.Fields().Len() {
		f := d.Fields().Get(i)
		rules = append(rules, string(f.FullName())+" "+encoded(f.Options()))
	}
	for i := range d.Oneofs().Len() {
		rules = append(rules, string(d.Oneofs().Get(i).FullName())+" "+encoded(d.Oneofs().Get(i).Options()))
	}
	slices.Sort(rules)
	return rules
}
