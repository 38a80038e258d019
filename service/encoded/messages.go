// Package encoded encodes views whose messages the store holds as the views show them: these travel as they are stored,
// and are not encoded again. The bytes are those of the ordinary encoding.
package encoded

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// The numbers of the fields that are written here and not by protobuf.
const (
	messageField  protowire.Number = 1 // of ViewMessage
	indexField    protowire.Number = 2
	tokensField   protowire.Number = 6
	messagesField protowire.Number = 2 // of GetLLMViewResponse
)

// Messages are the messages of a view, ready to be encoded. Nobody may change a message that is among them.
type Messages struct {
	list []Measured
	// bytes is how many bytes they take in an answer.
	bytes int
	// beside is the memory of what each has beside its message.
	beside []byte
	// scratch is a message of a view without its message.
	scratch compactordv1.ViewMessage
}

// Measured is a message of a view whose size is known.
type Measured struct {
	shown *compactordv1.ViewMessage
	// content is the encoding of its message, where that is known, and beside that of its other fields.
	content string
	beside  []byte
	// Size is the size of the encoded ViewMessage.
	Size int
}

// Measure measures a message of a view. content is the encoding of its message; an empty one where it is not known.
func (m *Messages) Measure(vm *compactordv1.ViewMessage, content string) (Measured, error) {
	if content == "" {
		return Measured{shown: vm, Size: proto.Size(vm)}, nil
	}
	start := len(m.beside)
	if err := m.addBeside(vm); err != nil {
		return Measured{}, fmt.Errorf("encode a message of a view: %w", err)
	}
	beside := m.beside[start:]
	size := protowire.SizeTag(messageField) + protowire.SizeBytes(len(content)) + len(beside)
	return Measured{shown: vm, content: content, beside: beside, Size: size}, nil
}

// addBeside encodes what a message of a view has beside its message.
func (m *Messages) addBeside(vm *compactordv1.ViewMessage) (err error) {
	if o, ofLog := vm.GetOrigin().(*compactordv1.ViewMessage_Index); ofLog && len(vm.GetEdits()) == 0 && !vm.GetOutOfPlace() {
		// This is what most have, and protobuf would take as long for it as for all else. It writes a oneof last.
		if vm.GetTokens() > 0 {
			m.beside = appendNumber(m.beside, tokensField, vm.GetTokens())
		}
		m.beside = appendNumber(m.beside, indexField, o.Index)
		return nil
	}
	s := &m.scratch
	s.Origin, s.Edits, s.Tokens, s.OutOfPlace = vm.GetOrigin(), vm.GetEdits(), vm.GetTokens(), vm.GetOutOfPlace()
	m.beside, err = (proto.MarshalOptions{}).MarshalAppend(m.beside, s)
	return err
}

func appendNumber(b []byte, field protowire.Number, value uint32) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), uint64(value))
}

// Add adds a message.
func (m *Messages) Add(measured Measured) {
	m.list = append(m.list, measured)
	m.bytes += protowire.SizeTag(messagesField) + protowire.SizeBytes(measured.Size)
}

// appendTo appends the field of an answer with this message.
func (m *Measured) appendTo(b []byte) ([]byte, error) {
	b = protowire.AppendTag(b, messagesField, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(m.Size))
	if m.content == "" {
		return proto.MarshalOptions{UseCachedSize: true}.MarshalAppend(b, m.shown)
	}
	b = protowire.AppendTag(b, messageField, protowire.BytesType)
	b = protowire.AppendString(b, m.content)
	return append(b, m.beside...), nil
}
