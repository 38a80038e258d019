package forms

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// filled sets fields of a message, at most so deep, to values that its type can have.
func filled[M proto.Message](t *rapid.T, m M, depth int) M {
	fill(t, m.ProtoReflect(), depth)
	return m
}

func fill(t *rapid.T, m protoreflect.Message, depth int) {
	all := m.Descriptor().Fields()
	chosen := map[protoreflect.OneofDescriptor]int{}
	for i := range all.Len() {
		f := all.Get(i)
		if of := f.ContainingOneof(); of != nil && of.Fields().Len() > 1 {
			if _, drawn := chosen[of]; !drawn {
				chosen[of] = rapid.IntRange(0, of.Fields().Len()-1).Draw(t, string(of.Name()))
			}
			if of.Fields().Get(chosen[of]) != f {
				continue
			}
		}
		if depth == 0 && f.Message() != nil || !rapid.Bool().Draw(t, string(f.Name())) {
			continue
		}
		switch {
		case f.IsMap():
		case f.IsList():
			for range rapid.IntRange(1, 3).Draw(t, "items") {
				m.Mutable(f).List().Append(drawn(t, m.NewField(f).List().NewElement(), f, depth))
			}
		default:
			m.Set(f, drawn(t, m.NewField(f), f, depth))
		}
	}
}

func drawn(t *rapid.T, empty protoreflect.Value, f protoreflect.FieldDescriptor, depth int) protoreflect.Value {
	switch f.Kind() {
	case protoreflect.MessageKind:
		fill(t, empty.Message(), depth-1)
		return empty
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(rapid.StringN(0, 200, 300).Draw(t, "text"))
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(rapid.Bool().Draw(t, "bool"))
	case protoreflect.Uint32Kind:
		return protoreflect.ValueOfUint32(rapid.Uint32().Draw(t, "number"))
	case protoreflect.Uint64Kind:
		return protoreflect.ValueOfUint64(rapid.Uint64().Draw(t, "number"))
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(rapid.Int32Min(0).Draw(t, "number"))
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(rapid.Int64Min(0).Draw(t, "number"))
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(rapid.Int32Range(0, 5).Draw(t, "enum")))
	default:
		return empty
	}
}

// Whatever a message holds, it is read without reflection, and as reflection reads it. A new field of the contract that
// readLogged does not know fails this test.
func TestMessagesAreReadAsReflectionReadsThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := filled(t, new(compactordv1.LoggedMessage), 4)
		encoding, err := Marshal.Marshal(m)
		require.NoError(t, err)
		read := readLogged(encoding)
		require.NotNil(t, read, "%v", m)
		require.True(t, proto.Equal(m, read), "%v\n%v", m, read)
		again, err := Marshal.Marshal(read)
		require.NoError(t, err)
		require.Equal(t, encoding, again)
		// So it is where its texts are parts of one copy, which is the encoding of the message within.
		sharing, within := readSharing(encoding, true)
		require.True(t, proto.Equal(m, sharing), "%v\n%v", m, sharing)
		content, err := Marshal.Marshal(m.GetMessage())
		require.NoError(t, err)
		require.Equal(t, string(content), within)
	})
}

// Of an encoding that this program has not written, nothing is read that reflection would refuse or read otherwise.
func TestOtherEncodingsAreLeftToReflection(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		encoding, err := Marshal.Marshal(filled(t, new(compactordv1.LoggedMessage), 4))
		require.NoError(t, err)
		for range rapid.IntRange(1, 3).Draw(t, "changes") {
			encoding = changed(t, encoding)
		}
		read := readLogged(encoding)
		if read == nil {
			return
		}
		byReflection := new(compactordv1.LoggedMessage)
		require.NoError(t, unmarshal(encoding, byReflection), "%x", encoding)
		require.True(t, proto.Equal(byReflection, read), "%x", encoding)
		sharing, within := readSharing(encoding, true)
		require.True(t, proto.Equal(read, sharing), "%x", encoding)
		message := new(compactordv1.Message)
		require.NoError(t, unmarshal([]byte(within), message), "%x", encoding)
		require.True(t, proto.Equal(read.GetMessage(), message) || read.GetMessage() == nil, "%x", encoding)
	})
}

// changed returns an encoding with a byte changed, left out, doubled or added, or with its fields in another order.
func changed(t *rapid.T, b []byte) []byte {
	if len(b) == 0 {
		return []byte{rapid.Byte().Draw(t, "byte")}
	}
	at := rapid.IntRange(0, len(b)-1).Draw(t, "at")
	switch rapid.IntRange(0, 4).Draw(t, "change") {
	case 0:
		return append(append(append([]byte{}, b[:at]...), rapid.Byte().Draw(t, "byte")), b[at+1:]...)
	case 1:
		return append(append([]byte{}, b[:at]...), b[at+1:]...)
	case 2:
		return append(append(append([]byte{}, b[:at]...), b[at]), b[at:]...)
	case 3:
		return append(append(append([]byte{}, b[:at]...), rapid.SliceOfN(rapid.Byte(), 1, 4).Draw(t, "bytes")...), b[at:]...)
	default:
		_, _, n := protowire.ConsumeField(b)
		n = max(n, 0)
		return append(append([]byte{}, b[n:]...), b[:n]...)
	}
}

// These have other encodings that say the same, or fields that one program of two knows.
func TestEncodingsThatOthersWroteAreNotReadFast(t *testing.T) {
	tag := protowire.AppendTag
	number := func(n protowire.Number, v uint64) []byte {
		return protowire.AppendVarint(tag(nil, n, protowire.VarintType), v)
	}
	inside := func(n protowire.Number, b []byte) []byte {
		return protowire.AppendBytes(tag(nil, n, protowire.BytesType), b)
	}
	message := func(b ...[]byte) []byte {
		var all []byte
		for _, each := range b {
			all = append(all, each...)
		}
		return all
	}
	text := inside(1, inside(1, []byte("a")))
	for name, encoding := range map[string][]byte{
		"a field twice":              message(number(1, 4), number(1, 5)),
		"fields in another order":    message(number(2, 4), number(1, 5)),
		"a zero":                     number(1, 0),
		"a large number":             number(1, 1<<32),
		"a long number":              {0x08, 0x84, 0x00},
		"a long tag":                 {0x88, 0x00, 0x04},
		"another wire type":          {0x0d, 1, 0, 0, 0},
		"no end":                     {0x1a, 5, 1},
		"an unknown field":           number(1000, 1),
		"an unknown part":            inside(3, inside(3, inside(9, nil))),
		"two kinds of a part":        inside(3, inside(3, message(text, inside(3, nil)))),
		"two more kinds of a part":   inside(3, inside(3, message(inside(2, nil), inside(6, nil)))),
		"attachments behind a kind":  inside(3, inside(3, message(inside(2, nil), inside(7, nil)))),
		"two kinds of a result part": inside(3, inside(3, inside(4, inside(3, message(inside(2, nil), inside(3, nil)))))),
		"a long number in a list":    inside(5, []byte{0x84, 0x00}),
		"an empty list":              inside(5, nil),
		"no UTF-8":                   inside(3, inside(7, []byte{0xff})),
		"an empty text":              inside(3, inside(7, nil)),
		"a negative enum":            number(8, ^uint64(0)),
		"a time before 1970":         inside(6, number(1, ^uint64(0))),
		"an unknown field inside":    inside(9, number(77, 1)),
		"an unknown field deep":      inside(14, number(777, 1)),
	} {
		require.Nil(t, readLogged(encoding), name)
	}
	require.NotNil(t, readLogged(inside(3, inside(3, text))))
}

// BenchmarkRead compares both ways to read a turn of 8 kB.
func BenchmarkRead(b *testing.B) {
	text := func(size int) *compactordv1.TextPart {
		return &compactordv1.TextPart{Text: strings.Repeat("word ", size/5)}
	}
	says := func(role compactordv1.Role, size int) *compactordv1.LoggedMessage {
		return &compactordv1.LoggedMessage{
			Index: 1000, Sequence: 1001, Tokens: 2000, PartSizes: []uint32{2000}, AppendedAt: timestamppb.Now(), ViewPoint: 1002,
			Message: &compactordv1.Message{
				Role: role, Origin: compactordv1.Origin_ORIGIN_CLIENT, Parts: []*compactordv1.Part{{Kind: &compactordv1.Part_Text{Text: text(size)}}},
			},
		}
	}
	result := says(compactordv1.Role_ROLE_TOOL, 0)
	result.Message.Parts = []*compactordv1.Part{{Kind: &compactordv1.Part_ToolResult{ToolResult: &compactordv1.ToolResult{
		CallId: "call_1", Parts: []*compactordv1.ResultPart{{Kind: &compactordv1.ResultPart_Text{Text: text(4000)}}},
	}}}}
	var turn [][]byte
	for _, m := range []*compactordv1.LoggedMessage{
		says(compactordv1.Role_ROLE_USER, 2000), says(compactordv1.Role_ROLE_ASSISTANT, 10), result, says(compactordv1.Role_ROLE_ASSISTANT, 2000),
	} {
		encoding, err := Marshal.Marshal(m)
		require.NoError(b, err)
		turn = append(turn, encoding)
	}
	b.Run("ours", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for _, encoding := range turn {
				if readLogged(encoding) == nil {
					b.Fatal("not read")
				}
			}
		}
	})
	b.Run("reflection", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for _, encoding := range turn {
				if unmarshal(encoding, new(compactordv1.LoggedMessage)) != nil {
					b.Fatal("not read")
				}
			}
		}
	})
}
