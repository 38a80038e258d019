package interceptors

import (
	"google.golang.org/grpc/encoding"
	grpcproto "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// undecodable is the field number that marks a request which cannot be decoded. No contract can use it, since protobuf
// reserves it for implementations.
const undecodable = protowire.FirstReservedNumber

// LenientCodec marks requests that cannot be decoded and passes them on, so that the interceptors refuse them like
// other bad requests. gRPC's own error is INTERNAL and has no details.
type LenientCodec struct {
	encoding.CodecV2
}

// NewLenientCodec returns the codec for a server.
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
