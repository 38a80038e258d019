package interceptors

import (
	"google.golang.org/grpc/encoding"
	grpcproto "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// undecodable is the number of the field that marks a request which does not decode. No contract can use it: protobuf
// reserves it for its implementations.
const undecodable = protowire.FirstReservedNumber

// LenientCodec lets requests that do not decode reach the interceptors, marked, which refuse them like any other bad
// request. gRPC's own refusal is INTERNAL and has no details.
type LenientCodec struct {
	encoding.CodecV2
}

// NewLenientCodec returns the codec that servers read requests with.
func NewLenientCodec() LenientCodec { return LenientCodec{encoding.GetCodecV2(grpcproto.Name)} }

// Unmarshal never fails on bytes that a client sent.
func (c LenientCodec) Unmarshal(data mem.BufferSlice, v any) error {
	err := c.CodecV2.Unmarshal(data, v)
	m, ok := v.(proto.Message)
	if err == nil || !ok {
		return err
	}
	proto.Reset(m)
	m.ProtoReflect().SetUnknown(protowire.AppendVarint(
		protowire.AppendTag(nil, undecodable, protowire.VarintType), 1))
	return nil
}

func isUndecodable(m proto.Message) bool {
	number, _, n := protowire.ConsumeTag(m.ProtoReflect().GetUnknown())
	return n > 0 && number == undecodable
}
