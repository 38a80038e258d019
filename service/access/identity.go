package access

import (
	"context"

	middleware "github.com/grpc-ecosystem/go-grpc-middleware/v2"
	"google.golang.org/grpc"

	"github.com/compactord/compactord/service/calls"
	"github.com/compactord/compactord/service/tenant"
)

// Caller is who makes a call.
type Caller struct {
	// Subject names the token's owner. It is empty where no token was asked for.
	Subject string
	// Tenant is whose sessions the caller sees; tenant.Default has no name.
	Tenant string
	// Role is what the caller may do. It is Everybody for RPCs that need no token.
	Role Role
}

type callerKey struct{}

// CallerOf returns who makes the call of a context. Work that no call has begun has the zero Caller.
func CallerOf(ctx context.Context) Caller {
	caller, _ := ctx.Value(callerKey{}).(Caller)
	return caller
}

// WithCaller returns the context of a caller's call, whose work is done for the caller's tenant.
func WithCaller(ctx context.Context, caller Caller) context.Context {
	return tenant.With(context.WithValue(ctx, callerKey{}, caller), caller.Tenant)
}

// Open admits every caller as one with all rights. It stands in a Guard's place where whoever can connect may do
// everything.
type Open struct {
	// Tenant is the tenant of all callers.
	Tenant string
}

func (o Open) admit(ctx context.Context) context.Context {
	calls.SetCaller(ctx, calls.Caller{Tenant: o.Tenant, Role: Admin.String()})
	return WithCaller(ctx, Caller{Tenant: o.Tenant, Role: Admin})
}

// Unary admits a unary call.
func (o Open) Unary(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	return handler(o.admit(ctx), req)
}

// Stream admits a stream.
func (o Open) Stream(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	return handler(srv, within(o.admit(stream.Context()), stream))
}

// within returns a stream with another context.
func within(ctx context.Context, stream grpc.ServerStream) grpc.ServerStream {
	return &middleware.WrappedServerStream{ServerStream: stream, WrappedContext: ctx}
}
