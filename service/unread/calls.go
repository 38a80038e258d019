package unread

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/encoded"
)

// usualAnswer is the size limit of an answer with messages whose request names none.
const usualAnswer = 3 << 20

// chunkBytes is how much of an answer must be read to count as progress.
const chunkBytes = 16 << 10

// answer is an answer on its way to the codec, which learns from it to which connection it goes. held is counted as
// unread there.
type answer struct {
	message    proto.Message
	connection *connection
	held       int64
	// ready is the message where it need not be encoded by protobuf; else nil.
	ready *encoded.Answer
	// encoded says that the codec frees what is held.
	encoded bool
}

// expectedBytes returns how large the answer to a request may be; 0 where it is small.
func expectedBytes(req any) int64 {
	switch r := req.(type) {
	case interface{ GetMaxBytes() uint32 }:
		return cmp.Or(int64(r.GetMaxBytes()), usualAnswer)
	case *compactordv1.ListSessionsRequest, *compactordv1.SearchMessagesRequest, *compactordv1.PlanCompactionRequest:
		return usualAnswer
	default:
		return 0
	}
}

// isOurs says whether a method is of the API. Health checks and reflection never wait.
func isOurs(method string) bool { return strings.HasPrefix(method, "/compactord.") }

// Unary returns the interceptor of unary calls. It must be the innermost one: what it returns is only for the codec.
func (a *Answers) Unary() grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		c := connectionOf(ctx)
		if c == nil || !isOurs(info.FullMethod) {
			return handler(ctx, req)
		}
		expected := expectedBytes(req) * timesOf(ctx)
		if err := c.expect(ctx, expected); err != nil {
			return nil, err
		}
		defer func() { c.unexpect(expected) }()
		called, take := expectEncoded(ctx, req)
		message, err := handler(called, req)
		m, ok := message.(proto.Message)
		if err != nil || !ok {
			return message, err
		}
		out := &answer{message: m, connection: c, ready: take(m)}
		bytes := out.size() * timesOf(ctx)
		if expected == 0 {
			// What was written must be acknowledged.
			c.take(bytes)
		} else if err := c.hold(ctx, a.options.Wait, expected, bytes); err != nil {
			return nil, err
		}
		expected, out.held = 0, bytes
		return out, nil
	}
}

// expectEncoded is encoded.Expect for requests whose answers may be put there.
func expectEncoded(ctx context.Context, req any) (_ context.Context, take func(answer any) *encoded.Answer) {
	if _, ok := req.(*compactordv1.GetLLMViewRequest); !ok {
		return ctx, func(any) *encoded.Answer { return nil }
	}
	return encoded.Expect(ctx)
}

// size returns the size of the encoded answer.
func (a *answer) size() int64 {
	if a.ready != nil {
		return int64(a.ready.Size())
	}
	return int64(proto.Size(a.message))
}

// Stream returns the interceptor of streams. A message waits for room like one that the client does not read.
func (a *Answers) Stream() grpc.StreamServerInterceptor {
	return func(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
		c := connectionOf(stream.Context())
		if c == nil || !isOurs(info.FullMethod) {
			return handler(srv, stream)
		}
		if err := c.expect(stream.Context(), 0); err != nil {
			return err
		}
		return handler(srv, &countedStream{stream, c})
	}
}

type countedStream struct {
	grpc.ServerStream
	connection *connection
}

// SendMsg sends a message.
func (s *countedStream) SendMsg(message any) error {
	m, ok := message.(proto.Message)
	if !ok {
		return s.ServerStream.SendMsg(message)
	}
	bytes := int64(proto.Size(m)) * timesOf(s.Context())
	if err := s.connection.hold(s.Context(), 0, 0, bytes); err != nil {
		return err
	}
	out := &answer{message: m, connection: s.connection, held: bytes}
	err := s.ServerStream.SendMsg(out)
	if !out.encoded {
		s.connection.advance(bytes)
	}
	return err
}

// timesKey is the context's key for how many times its size an answer is held.
type timesKey struct{}

// WithTimes returns the context of a call that holds its answer so many times while the client reads it, as a server that
// is not gRPC's may.
func WithTimes(ctx context.Context, times int) context.Context {
	return context.WithValue(ctx, timesKey{}, int64(times))
}

func timesOf(ctx context.Context) int64 {
	if times, set := ctx.Value(timesKey{}).(int64); set {
		return times
	}
	return 1
}

// Sending is an answer that a server which is not gRPC's sends.
type Sending struct {
	// Message is what to send.
	Message any
	answer  *answer
}

// Send returns what an interceptor of Answers has passed on. The caller must call Sent.
func Send(v any) *Sending {
	a, counted := v.(*answer)
	if !counted {
		return &Sending{Message: v}
	}
	a.encoded = true
	return &Sending{Message: a.message, answer: a}
}

// Advance notes that the client has read a part.
func (s *Sending) Advance() {
	if s.answer != nil {
		s.answer.connection.advance(0)
	}
}

// Sent notes that nothing is held any more.
func (s *Sending) Sent() {
	if s.answer != nil {
		s.answer.connection.advance(s.answer.held)
		s.answer = nil
	}
}

// Codec encodes answers so that it is known when gRPC has passed them on.
type Codec struct{ encoding.CodecV2 }

// Marshal encodes a message.
func (c Codec) Marshal(v any) (mem.BufferSlice, error) {
	a, ok := v.(*answer)
	if !ok {
		return c.CodecV2.Marshal(v)
	}
	a.encoded = true
	data, err := a.encode()
	if err != nil || mem.IsBelowBufferPoolingThreshold(data.Len()) {
		// gRPC does not say when it frees so small a buffer.
		a.connection.advance(a.held)
		return data, err
	}
	return a.count(data), nil
}

// encode encodes the answer, whose size was computed when it was counted. Nobody changes it since then.
func (a *answer) encode() (mem.BufferSlice, error) {
	if mem.IsBelowBufferPoolingThreshold(int(a.held)) {
		data, err := a.appendTo(make([]byte, 0, a.held))
		return mem.BufferSlice{mem.SliceBuffer(data)}, err
	}
	buffer := answerBuffers.Get(int(a.held))
	data, err := a.appendTo((*buffer)[:0])
	if err != nil {
		answerBuffers.Put(buffer)
		return nil, fmt.Errorf("encode an answer: %w", err)
	}
	*buffer = data
	return mem.BufferSlice{mem.NewBuffer(buffer, answerBuffers)}, nil
}

func (a *answer) appendTo(b []byte) ([]byte, error) {
	if a.ready != nil {
		return a.ready.AppendTo(b)
	}
	return proto.MarshalOptions{UseCachedSize: true}.MarshalAppend(b, a.message)
}

// count returns the data in chunks, whose release is noted.
func (a *answer) count(data mem.BufferSlice) mem.BufferSlice {
	whole := fitting(data)
	rest := whole.ReadOnlyData()
	chunks := make(mem.BufferSlice, 0, 1+len(rest)/chunkBytes)
	out := newOutgoing(a, whole)
	for len(rest) > 0 {
		chunk := rest
		if len(rest) >= 2*chunkBytes {
			chunk = rest[:chunkBytes]
		}
		rest = rest[len(chunk):]
		chunks = append(chunks, mem.NewBuffer(&chunk, out))
	}
	out.chunks.Store(int32(len(chunks)))
	return chunks
}

// fitting returns the data in one buffer, which takes at most twice as much memory: that of a pool may be 30 times as
// large. It frees the data.
func fitting(data mem.BufferSlice) mem.Buffer {
	defer data.Free()
	whole := data.MaterializeToBuffer(mem.DefaultBufferPool())
	content := whole.ReadOnlyData()
	if cap(content) <= 2*len(content) {
		return whole
	}
	defer whole.Free()
	return mem.SliceBuffer(bytes.Clone(content))
}
