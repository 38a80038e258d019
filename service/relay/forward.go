package relay

import (
	"context"
	"errors"
	"fmt"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/compactord/compactord/service/inspector"
)

// forwarded is an RPC that is repeated over a connection.
type forwarded struct {
	method          string
	request, answer protoreflect.MessageType
	to              grpc.ClientConnInterface
	writing         inspector.Writing
}

// forwarding returns a service whose RPCs are repeated over a connection.
func forwarding(service *grpc.ServiceDesc, to grpc.ClientConnInterface, writing inspector.Writing) (*grpc.ServiceDesc, error) {
	described := &grpc.ServiceDesc{ServiceName: service.ServiceName, Metadata: service.Metadata}
	for _, method := range service.Methods {
		rpc, err := forward(service.ServiceName, method.MethodName, to, writing)
		if err != nil {
			return nil, err
		}
		described.Methods = append(described.Methods, grpc.MethodDesc{MethodName: method.MethodName, Handler: rpc.unary()})
	}
	for _, stream := range service.Streams {
		rpc, err := forward(service.ServiceName, stream.StreamName, to, writing)
		if err != nil {
			return nil, err
		}
		stream.Handler = rpc.stream
		described.Streams = append(described.Streams, stream)
	}
	return described, nil
}

// forward returns an RPC, with its messages by the contract.
func forward(service, method string, to grpc.ClientConnInterface, writing inspector.Writing) (*forwarded, error) {
	found, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(service).Append(protoreflect.Name(method)))
	if err != nil {
		return nil, err
	}
	rpc, is := found.(protoreflect.MethodDescriptor)
	if !is {
		return nil, fmt.Errorf("%s has no RPC %s", service, method)
	}
	f := &forwarded{method: "/" + service + "/" + method, to: to, writing: writing}
	if f.request, err = protoregistry.GlobalTypes.FindMessageByName(rpc.Input().FullName()); err != nil {
		return nil, err
	}
	f.answer, err = protoregistry.GlobalTypes.FindMessageByName(rpc.Output().FullName())
	return f, err
}

// unary returns the handler of a unary RPC. The headers of the browser's call are not passed on: its token is the relay's.
func (f *forwarded) unary() grpc.MethodHandler {
	return func(_ any, ctx context.Context, decode func(any) error, chain grpc.UnaryServerInterceptor) (any, error) {
		request := f.request.New().Interface()
		if err := decode(request); err != nil {
			return nil, err
		}
		return chain(ctx, request, &grpc.UnaryServerInfo{FullMethod: f.method}, func(ctx context.Context, request any) (any, error) {
			if err := check(f.method, request, f.writing); err != nil {
				return nil, err
			}
			answer := f.answer.New().Interface()
			if err := f.to.Invoke(ctx, f.method, request, answer); err != nil {
				return nil, err
			}
			return answer, nil
		})
	}
}

// stream is the handler of an RPC that streams its answer.
func (f *forwarded) stream(_ any, in grpc.ServerStream) error {
	request := f.request.New().Interface()
	if err := in.RecvMsg(request); err != nil {
		return err
	}
	if err := check(f.method, request, f.writing); err != nil {
		return err
	}
	// It ends the stream where the client takes no more.
	ctx, cancel := context.WithCancel(in.Context())
	defer cancel()
	out, err := f.to.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, f.method)
	if err != nil {
		return err
	}
	if err := errors.Join(out.SendMsg(request), out.CloseSend()); err != nil {
		return err
	}
	for {
		answer := f.answer.New().Interface()
		if err := out.RecvMsg(answer); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := in.SendMsg(answer); err != nil {
			return err
		}
	}
}
