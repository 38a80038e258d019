package access

import (
	"context"
	"errors"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/calls"
	"github.com/compactord/compactord/service/requests"
	"github.com/compactord/compactord/service/tenant"
)

const (
	// header is the metadata that has the token, after scheme.
	header = "authorization"
	scheme = "bearer "
)

// errEnded is the cause of the end of a stream whose token is accepted no more.
var errEnded = errors.New("the token of the call is accepted no more")

// unauthenticated is the one answer to calls without a token that is accepted. It does not say what is wrong with theirs.
func unauthenticated() error {
	return apierror.New(compactordv1.ErrorReason_ERROR_REASON_UNAUTHENTICATED, nil, "the call has no token that this daemon accepts")
}

func denied(method string, role Role) error {
	return apierror.New(compactordv1.ErrorReason_ERROR_REASON_PERMISSION_DENIED, map[string]string{"role": role.String()},
		"%s needs a token with the role %s", method[strings.LastIndexByte(method, '/')+1:], role)
}

// Unary refuses unary calls before their requests are received.
func (g *Guard) Unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	ctx, _, err := g.admit(ctx, info.FullMethod)
	if err != nil {
		return nil, err
	}
	return handler(ctx, req)
}

// Stream refuses streams before a request is received, and ends those whose token is accepted no more. Its server needs
// requests.Tap.
func (g *Guard) Stream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	ctx, granted, err := g.admit(stream.Context(), info.FullMethod)
	if err != nil {
		return err
	}
	stream = within(ctx, stream)
	if granted == nil {
		return handler(srv, stream)
	}
	leave := granted.admitStream(func() { requests.End(stream.Context(), errEnded) })
	defer leave()
	err = handler(srv, stream)
	if err != nil && errors.Is(context.Cause(stream.Context()), errEnded) {
		return unauthenticated()
	}
	return err
}

// admit returns the context with the caller, and the grant by which the call may go on; nil for a call that needs none.
func (g *Guard) admit(ctx context.Context, method string) (context.Context, *grant, error) {
	role := needed(method)
	if role == Everybody {
		return ctx, nil, nil
	}
	granted, reason := g.findIn(ctx, metadata.ValueFromIncomingContext(ctx, header))
	if granted == nil {
		g.refused.WithLabelValues(reason).Inc()
		return nil, nil, unauthenticated()
	}
	entry := granted.entry.Load()
	// The log and the audit name those who are refused, too.
	calls.SetCaller(ctx, calls.Caller{Tenant: entry.Tenant, Subject: entry.Subject, Role: entry.Role.String()})
	if entry.Role < role {
		g.refused.WithLabelValues(reasonRole).Inc()
		return nil, nil, denied(method, role)
	}
	return WithCaller(ctx, Caller{Subject: entry.Subject, Tenant: entry.Tenant, Role: entry.Role}), granted, nil
}

// Admits says whether the values of an authorization header are those of a call with at least a role, and counts what it
// refuses. It is for what concerns the whole daemon, which only tokens of the default tenant may see. authenticated says
// whether they have a token that is accepted.
func (g *Guard) Admits(ctx context.Context, authorization []string, role Role) (admitted, authenticated bool) {
	granted, reason := g.findIn(ctx, authorization)
	if granted == nil {
		g.refused.WithLabelValues(reason).Inc()
		return false, false
	}
	if entry := granted.entry.Load(); entry.Role < role || entry.Tenant != tenant.Default {
		g.refused.WithLabelValues(reasonRole).Inc()
		return false, true
	}
	return true, true
}

// findIn returns the grant of the token of a call, by its authorization header.
func (g *Guard) findIn(ctx context.Context, values []string) (found *grant, reason string) {
	switch {
	case len(values) == 0:
		return nil, reasonMissing
	case len(values) > 1 || len(values[0]) < len(scheme) || !strings.EqualFold(values[0][:len(scheme)], scheme):
		return nil, reasonWrong
	default:
		return g.find(ctx, values[0][len(scheme):])
	}
}
