package requests

import (
	"fmt"

	"google.golang.org/grpc/encoding"
	grpcproto "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// Codec leaves requests undecoded: all their bytes become unknown fields. A Receiver decodes them, within bounds and
// within the call, and refuses bytes that are no message like any other bad request. gRPC would decode them before the
// first interceptor runs, and its own errors have no details.
type Codec struct {
	encoding.CodecV2

	maxBytes int
}

// NewCodec returns the codec of a server whose requests have at most so many bytes.
func NewCodec(maxBytes int) Codec { return Codec{encoding.GetCodecV2(grpcproto.Name), maxBytes} }

// Unmarshal keeps the bytes of a request. Of one that is too large it keeps only the size.
func (c Codec) Unmarshal(data mem.BufferSlice, v any) error {
	m, ok := v.(proto.Message)
	if !ok {
		return fmt.Errorf("request of type %T is no protobuf message", v)
	}
	size := data.Len()
	if size > c.maxBytes {
		m.ProtoReflect().SetUnknown(tooLarge(size))
		return nil
	}
	m.ProtoReflect().SetUnknown(data.Materialize())
	return nil
}

// tooLargeNumber marks the size of a request that was not kept. No contract can use this number, since protobuf reserves
// it for implementations.
const tooLargeNumber = protowire.FirstReservedNumber

func tooLarge(size int) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, tooLargeNumber, protowire.VarintType), uint64(size))
}

// sizeOf returns the size of a request whose bytes, or whose size, the codec has kept.
func sizeOf(kept []byte) int {
	number, wireType, n := protowire.ConsumeTag(kept)
	if n < 0 || number != tooLargeNumber || wireType != protowire.VarintType {
		return len(kept)
	}
	size, _ := protowire.ConsumeVarint(kept[n:])
	return int(size)
}
