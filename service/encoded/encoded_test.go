package encoded_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/encoded"
)

// fill sets fields of a message, at most so deep.
func fill(t *rapid.T, m protoreflect.Message, depth int) {
	all := m.Descriptor().Fields()
	for i := range all.Len() {
		f := all.Get(i)
		if depth == 0 && f.Message() != nil || f.IsMap() || !rapid.Bool().Draw(t, string(f.Name())) {
			continue
		}
		if !f.IsList() {
			m.Set(f, drawn(t, m.NewField(f), f, depth))
			continue
		}
		for range rapid.IntRange(1, 3).Draw(t, "items") {
			list := m.Mutable(f).List()
			list.Append(drawn(t, list.NewElement(), f, depth))
		}
	}
}

func drawn(t *rapid.T, empty protoreflect.Value, f protoreflect.FieldDescriptor, depth int) protoreflect.Value {
	switch f.Kind() {
	case protoreflect.MessageKind:
		fill(t, empty.Message(), depth-1)
		return empty
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(rapid.StringN(0, 40, 200).Draw(t, "text"))
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(rapid.Bool().Draw(t, "bool"))
	case protoreflect.Uint32Kind:
		return protoreflect.ValueOfUint32(rapid.Uint32().Draw(t, "number"))
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(rapid.Int32Range(0, 5).Draw(t, "enum")))
	default:
		return empty
	}
}

// put returns what the codec of a call gets whose handler puts the messages of an answer.
func put(t require.TestingT, answer *compactordv1.GetLLMViewResponse, knows func(*compactordv1.Message) bool) *encoded.Answer {
	ctx, take := encoded.Expect(context.Background())
	messages := new(encoded.Messages)
	for _, vm := range answer.GetMessages() {
		var content []byte
		if knows(vm.GetMessage()) {
			var err error
			content, err = proto.MarshalOptions{Deterministic: true}.Marshal(vm.GetMessage())
			require.NoError(t, err)
		}
		measured, err := messages.Measure(vm, string(content))
		require.NoError(t, err)
		require.Equal(t, proto.Size(vm), measured.Size)
		messages.Add(measured)
	}
	require.True(t, encoded.Expected(ctx))
	encoded.Put(ctx, answer, messages)
	return take(answer)
}

// Whatever an answer holds, its bytes are those of its ordinary encoding. A field that the contract gets later, and that is
// not written, fails this test.
func TestAnswersHaveTheirOrdinaryEncoding(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		answer := new(compactordv1.GetLLMViewResponse)
		fill(t, answer.ProtoReflect(), 3)
		for range rapid.IntRange(0, 3).Draw(t, "usual messages") {
			m := new(compactordv1.Message)
			fill(t, m.ProtoReflect(), 1)
			answer.Messages = append(answer.GetMessages(), &compactordv1.ViewMessage{
				Message: m, Tokens: rapid.Uint32Range(0, 300).Draw(t, "tokens"),
				Origin: &compactordv1.ViewMessage_Index{Index: rapid.Uint32Range(0, 300).Draw(t, "index")},
			})
		}
		known := rapid.SliceOfN(rapid.Bool(), len(answer.GetMessages()), -1).Draw(t, "known")
		next := 0
		ready := put(t, answer, func(m *compactordv1.Message) bool {
			next++
			return m != nil && known[next-1]
		})
		require.NotNil(t, ready)
		ordinary, err := proto.MarshalOptions{Deterministic: true}.Marshal(answer)
		require.NoError(t, err)
		require.Equal(t, len(ordinary), ready.Size())
		got, err := ready.AppendTo([]byte("before"))
		require.NoError(t, err)
		require.Equal(t, "before"+string(ordinary), string(got))
	})
}

// Messages that are not those of the answer are not sent in their place.
func TestAnswersOfOthersAreEncodedByProtobuf(t *testing.T) {
	t.Parallel()
	answer := func() *compactordv1.GetLLMViewResponse {
		return &compactordv1.GetLLMViewResponse{Messages: []*compactordv1.ViewMessage{{Message: &compactordv1.Message{Name: "a"}}}}
	}
	for name, change := range map[string]func(*compactordv1.GetLLMViewResponse){
		"one more":     func(a *compactordv1.GetLLMViewResponse) { a.Messages = append(a.GetMessages(), a.GetMessages()[0]) },
		"another one":  func(a *compactordv1.GetLLMViewResponse) { a.Messages[0] = proto.CloneOf(a.GetMessages()[0]) },
		"none of them": func(a *compactordv1.GetLLMViewResponse) { a.Messages = nil },
	} {
		ctx, take := encoded.Expect(t.Context())
		a, messages := answer(), new(encoded.Messages)
		measured, err := messages.Measure(a.GetMessages()[0], "\x3a\x01a")
		require.NoError(t, err)
		messages.Add(measured)
		encoded.Put(ctx, a, messages)
		require.NotNil(t, take(a), name)
		require.Nil(t, take(answer()), name)
		change(a)
		require.Nil(t, take(a), name)
	}
	_, take := encoded.Expect(t.Context())
	require.Nil(t, take(answer()))
	require.False(t, encoded.Expected(t.Context()))
	encoded.Put(t.Context(), answer(), new(encoded.Messages))
}
