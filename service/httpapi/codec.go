package httpapi

import (
	"fmt"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// incoming is the request that connect-go is given: it has nothing, since a Receiver takes the real one.
type incoming struct{}

// outgoing is an answer.
type outgoing struct{ message any }

// codec encodes answers.
type codec struct {
	name   string
	append func(into []byte, m proto.Message) ([]byte, error)
}

// codecs are how connect-go encodes.
func codecs() []connect.HandlerOption {
	binary := func(into []byte, m proto.Message) ([]byte, error) {
		return proto.MarshalOptions{}.MarshalAppend(into, m)
	}
	return []connect.HandlerOption{
		connect.WithCodec(codec{"proto", binary}),
		connect.WithCodec(codec{"json", protojson.MarshalOptions{}.MarshalAppend}),
		connect.WithCodec(codec{"json; charset=utf-8", protojson.MarshalOptions{}.MarshalAppend}),
		// The gRPC server does not compress either: answers mix secrets with what others wrote.
		connect.WithCompression("gzip", nil, nil),
	}
}

// Name is part of connect.Codec.
func (c codec) Name() string { return c.name }

// Unmarshal is part of connect.Codec.
func (codec) Unmarshal([]byte, any) error { return nil }

// Marshal is part of connect.Codec.
func (c codec) Marshal(v any) ([]byte, error) { return c.MarshalAppend(nil, v) }

// MarshalAppend lets connect-go encode into a buffer that it has.
func (c codec) MarshalAppend(into []byte, v any) ([]byte, error) {
	if answer, is := v.(*outgoing); is {
		v = answer.message
	}
	m, is := v.(proto.Message)
	if !is {
		return nil, fmt.Errorf("an answer of type %T is no protobuf message", v)
	}
	return c.append(into, m)
}
