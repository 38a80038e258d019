// Package httpapitest calls RPCs over HTTP, behind the interface of a gRPC connection, so that what is tested over gRPC can
// be tested over HTTP with the same clients.
package httpapitest

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"connectrpc.com/connect"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// Protocol is how a client speaks.
type Protocol string

// The protocols, by the content type of unary requests.
const (
	// JSON is what a shell does with curl.
	JSON         Protocol = "application/json"
	Connect      Protocol = "application/proto"
	ConnectJSON  Protocol = "application/connect+json"
	GRPCWeb      Protocol = "application/grpc-web+proto"
	GRPCWebJSON  Protocol = "application/grpc-web+json"
	GRPCOverHTTP Protocol = "application/grpc+proto"
)

// Protocols are all of them.
var Protocols = []Protocol{JSON, Connect, ConnectJSON, GRPCWeb, GRPCWebJSON, GRPCOverHTTP}

// Conn is a connection that speaks a protocol.
type Conn struct {
	protocol Protocol
	base     string
	http     *http.Client
}

var _ grpc.ClientConnInterface = (*Conn)(nil)

// New returns a connection to a server at a URL.
func New(base string, client *http.Client, protocol Protocol) *Conn {
	return &Conn{protocol: protocol, base: base, http: client}
}

// client returns connect-go's client of an RPC. into returns the message that the next answer goes into.
func (c *Conn) client(method string, into func() proto.Message) *connect.Client[holder, holder] {
	options := []connect.ClientOption{
		connect.WithCodec(codec{strings.Contains(string(c.protocol), "json")}),
		connect.WithResponseInitializer(func(_ connect.Spec, message any) error {
			held, is := message.(*holder)
			if !is {
				return fmt.Errorf("an answer of type %T", message)
			}
			held.message = into()
			return nil
		}),
	}
	switch c.protocol {
	case GRPCWeb, GRPCWebJSON:
		options = append(options, connect.WithGRPCWeb())
	case GRPCOverHTTP:
		options = append(options, connect.WithGRPC())
	case JSON, Connect, ConnectJSON:
	}
	return connect.NewClient[holder, holder](c.http, c.base+method, options...)
}

// Invoke calls a unary RPC.
func (c *Conn) Invoke(ctx context.Context, method string, args, reply any, options ...grpc.CallOption) error {
	request, answer, err := messages(args, reply)
	if err != nil {
		return err
	}
	if c.protocol == JSON {
		stream, err := c.post(ctx, method, request)
		if err != nil {
			return err
		}
		stream.note(options)
		return stream.whole(answer)
	}
	req := connect.NewRequest(&holder{request})
	addHeaders(ctx, req.Header())
	response, err := c.client(method, func() proto.Message { return answer }).CallUnary(ctx, req)
	if err != nil {
		failed := &connect.Error{}
		if errors.As(err, &failed) {
			note(options, failed.Meta(), failed.Meta())
		}
		return asStatus(err)
	}
	note(options, response.Header(), response.Trailer())
	return nil
}

// NewStream calls an RPC that streams its answer.
func (c *Conn) NewStream(ctx context.Context, _ *grpc.StreamDesc, method string, _ ...grpc.CallOption) (grpc.ClientStream, error) {
	return &stream{conn: c, context: func() context.Context { return ctx }, method: method}, nil
}

// stream is a call that streams its answer. It begins with its request.
type stream struct {
	conn    *Conn
	context func() context.Context
	method  string
	into    proto.Message
	framed  *connect.ServerStreamForClient[holder]
	lines   *lines
}

// Header is part of grpc.ClientStream.
func (s *stream) Header() (metadata.MD, error) {
	if s.lines != nil {
		return metadataOf(s.lines.header), nil
	}
	return metadataOf(s.framed.ResponseHeader()), nil
}

// Trailer is part of grpc.ClientStream. JSON has none.
func (s *stream) Trailer() metadata.MD {
	if s.lines != nil {
		return metadata.MD{}
	}
	return metadataOf(s.framed.ResponseTrailer())
}

// CloseSend is part of grpc.ClientStream.
func (s *stream) CloseSend() error { return nil }

// Context is part of grpc.ClientStream.
func (s *stream) Context() context.Context { return s.context() }

// SendMsg sends the request.
func (s *stream) SendMsg(args any) error {
	request, is := args.(proto.Message)
	if !is {
		return fmt.Errorf("a request of type %T", args)
	}
	var err error
	if s.conn.protocol == JSON {
		s.lines, err = s.conn.post(s.context(), s.method, request)
		return err
	}
	req := connect.NewRequest(&holder{request})
	addHeaders(s.context(), req.Header())
	s.framed, err = s.conn.client(s.method, func() proto.Message { return s.into }).CallServerStream(s.context(), req)
	return asStatus(err)
}

// RecvMsg receives the next message.
func (s *stream) RecvMsg(reply any) error {
	answer, is := reply.(proto.Message)
	if !is {
		return fmt.Errorf("an answer of type %T", reply)
	}
	if s.lines != nil {
		return s.lines.next(answer)
	}
	s.into = answer
	if s.framed.Receive() {
		return nil
	}
	err := s.framed.Err()
	_ = s.framed.Close()
	if err == nil {
		return io.EOF
	}
	return asStatus(err)
}

// holder is a message of a type that connect-go need not know.
type holder struct{ message proto.Message }

type codec struct{ json bool }

// Name is part of connect.Codec.
func (c codec) Name() string {
	if c.json {
		return "json"
	}
	return "proto"
}

// Marshal is part of connect.Codec.
func (c codec) Marshal(v any) ([]byte, error) {
	held, is := v.(*holder)
	if !is {
		return nil, fmt.Errorf("a request of type %T", v)
	}
	if c.json {
		return protojson.Marshal(held.message)
	}
	return proto.Marshal(held.message)
}

// Unmarshal is part of connect.Codec.
func (c codec) Unmarshal(content []byte, v any) error {
	// connect-go decodes the statuses of gRPC with it, too.
	m, is := v.(proto.Message)
	if held, holds := v.(*holder); holds {
		m, is = held.message, held.message != nil
	}
	switch {
	case !is:
		return fmt.Errorf("an answer goes into a %T", v)
	case c.json:
		return protojson.Unmarshal(content, m)
	default:
		return proto.Unmarshal(content, m)
	}
}

func messages(args, reply any) (request, answer proto.Message, err error) {
	request, isRequest := args.(proto.Message)
	answer, isAnswer := reply.(proto.Message)
	if !isRequest || !isAnswer {
		return nil, nil, fmt.Errorf("a call with %T and %T", args, reply)
	}
	return request, answer, nil
}

// addHeaders adds the metadata that a caller sends.
func addHeaders(ctx context.Context, header http.Header) {
	md, _ := metadata.FromOutgoingContext(ctx)
	for key, values := range md {
		for _, value := range values {
			if strings.HasSuffix(key, "-bin") {
				value = base64.RawStdEncoding.EncodeToString([]byte(value))
			}
			header.Add(key, value)
		}
	}
}

// note gives a caller the headers and trailers of an answer.
func note(options []grpc.CallOption, header, trailer http.Header) {
	for _, option := range options {
		switch o := option.(type) {
		case grpc.HeaderCallOption:
			*o.HeaderAddr = metadataOf(header)
		case grpc.TrailerCallOption:
			*o.TrailerAddr = metadataOf(trailer)
		}
	}
}

func metadataOf(header http.Header) metadata.MD {
	md := metadata.MD{}
	for key, values := range header {
		md.Append(strings.ToLower(key), values...)
	}
	return md
}

// asStatus turns an error of connect-go into the one that gRPC has.
func asStatus(err error) error {
	if err == nil {
		return nil
	}
	failed := &connect.Error{}
	if !errors.As(err, &failed) {
		return status.FromContextError(err).Err()
	}
	st := status.New(codes.Code(failed.Code()), failed.Message())
	for _, detail := range failed.Details() {
		if value, err := detail.Value(); err == nil {
			st = withDetail(st, value)
		}
	}
	return st.Err()
}
