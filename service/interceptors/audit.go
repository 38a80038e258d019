package interceptors

import (
	"context"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"

	"github.com/compactord/compactord/service/audit"
	"github.com/compactord/compactord/service/calls"
)

// auditing writes the line of each call to the audit log, at its end.
type auditing struct {
	log *audit.Log
	now func() time.Time
}

func (a auditing) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if a.log == nil {
		return handler(ctx, req)
	}
	begun := a.now()
	answer, err := handler(ctx, req)
	a.log.Write(ctx, a.entry(ctx, begun, info.FullMethod, err))
	return answer, err
}

func (a auditing) stream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if a.log == nil {
		return handler(srv, stream)
	}
	begun := a.now()
	err := handler(srv, stream)
	a.log.Write(stream.Context(), a.entry(stream.Context(), begun, info.FullMethod, err))
	return err
}

// entry returns what is known of a call.
func (a auditing) entry(ctx context.Context, begun time.Time, method string, err error) audit.Entry {
	e := audit.Entry{Time: begun, RPC: strings.TrimPrefix(method, "/compactord.v1."), Code: code.Code(status.Code(err)).String()}
	call := calls.Of(ctx)
	if call == nil {
		return e
	}
	by := call.Caller()
	e.Tenant, e.Subject, e.Role = by.Tenant, by.Subject, by.Role
	e.Session, e.RequestID = call.Session(), call.RequestID
	done := call.Effect()
	e.Children = done.Deleted
	switch {
	case e.Session == "":
		e.Session = done.Made
	case e.Session != done.Made:
		e.NewSession = done.Made
	}
	return e
}
