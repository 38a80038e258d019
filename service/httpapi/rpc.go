package httpapi

import (
	"context"
	"net/http"

	"connectrpc.com/connect"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// newUnary returns the handler of a unary RPC.
func (s *Server) newUnary(path string, described protoreflect.MethodDescriptor, method grpc.MethodDesc, service any) http.Handler {
	// The request is left as it is until a Receiver takes it.
	leave := func(any) error { return nil }
	return connect.NewUnaryHandler(path,
		func(ctx context.Context, _ *connect.Request[incoming]) (*connect.Response[outgoing], error) {
			c := callOf(ctx)
			c.begin(ctx)
			answer, err := method.Handler(service, ctx, leave, s.unary)
			if err != nil {
				return nil, c.failure(err)
			}
			response := connect.NewResponse(&outgoing{c.writer.send(answer)})
			c.mu.Lock()
			defer c.mu.Unlock()
			addTo(response.Header(), c.header)
			addTo(response.Trailer(), c.trailer)
			return response, nil
		}, optionsOf(described)...)
}

// newStream returns the handler of an RPC that streams its answer.
func (s *Server) newStream(path string, described protoreflect.MethodDescriptor, desc grpc.StreamDesc, service any) http.Handler {
	info := &grpc.StreamServerInfo{FullMethod: path, IsServerStream: true}
	run := func(out *outStream) error {
		err := s.stream(service, out, info, desc.Handler)
		out.close()
		if err != nil {
			return out.call.failure(err)
		}
		out.addTrailer()
		return nil
	}
	framed := connect.NewServerStreamHandler(path,
		func(ctx context.Context, _ *connect.Request[incoming], stream *connect.ServerStream[outgoing]) error {
			c := callOf(ctx)
			c.begin(ctx)
			out := &outStream{call: c, send: func(message any) error { return stream.Send(&outgoing{message}) }}
			out.header, out.trailer = stream.ResponseHeader(), stream.ResponseTrailer()
			return run(out)
		}, optionsOf(described)...)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c := callOf(r.Context()); c.form.bare {
			s.lines(r.Context(), w, r, c, run)
			return
		}
		framed.ServeHTTP(w, r)
	})
}

// optionsOf returns the options of a handler. No RPC answers GET, which a link or an image of any web page makes.
func optionsOf(described protoreflect.MethodDescriptor) []connect.HandlerOption {
	options := codecs()
	if described != nil {
		options = append(options, connect.WithSchema(described))
	}
	return options
}
