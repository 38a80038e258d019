package service_test

import (
	"bytes"
	"fmt"

	"google.golang.org/grpc/encoding"
	grpcproto "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// ordinaryEncoding reads views, and fails a call whose answer does not have the bytes that protobuf encodes it in: messages
// travel as they are stored, and no client can tell. All tests here read views by it.
type ordinaryEncoding struct{ encoding.CodecV2 }

func readingViews() ordinaryEncoding {
	return ordinaryEncoding{encoding.GetCodecV2(grpcproto.Name)}
}

// Unmarshal decodes a message.
func (c ordinaryEncoding) Unmarshal(data mem.BufferSlice, v any) error {
	if err := c.CodecV2.Unmarshal(data, v); err != nil {
		return err
	}
	view, ok := v.(*compactordv1.GetLLMViewResponse)
	if !ok {
		return nil
	}
	ordinary, err := proto.MarshalOptions{Deterministic: true}.Marshal(view)
	if err != nil {
		return err
	}
	if got := data.Materialize(); !bytes.Equal(got, ordinary) {
		return fmt.Errorf("a view has %d bytes that differ from its ordinary encoding of %d:\n%x\n%x", len(got), len(ordinary), got, ordinary)
	}
	return nil
}
