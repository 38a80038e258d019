package interceptors

import (
	"context"
	"fmt"
	"strconv"

	"buf.build/go/protovalidate"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/policies"
)

// check returns an error for a request that must be refused.
type check func(req proto.Message, options ...protovalidate.ValidationOption) error

// limitTo returns a check for the size of requests. Its error names the limit and its value, which gRPC's own error
// does not.
func limitTo(maxBytes int) check {
	return func(req proto.Message, _ ...protovalidate.ValidationOption) error {
		size := proto.Size(req)
		if size <= maxBytes {
			return nil
		}
		return apierror.New(compactordv1.ErrorReason_ERROR_REASON_LIMIT_EXCEEDED,
			map[string]string{"limit": "max_message_bytes", "value": strconv.Itoa(maxBytes)},
			"the request has %d bytes; at most %d are accepted", size, maxBytes)
	}
}

// policySize refuses a policy that is too large.
func policySize(req proto.Message, _ ...protovalidate.ValidationOption) error {
	return policies.CheckSize(req)
}

// knownFields refuses fields that this daemon's contract does not have: a newer client must learn that they have no
// effect.
func knownFields(req proto.Message, _ ...protovalidate.ValidationOption) error {
	if isUndecodable(req) {
		return apierror.New(compactordv1.ErrorReason_ERROR_REASON_INVALID_FIELD, nil,
			"the request does not decode as %s: broken bytes, or text that is not UTF-8",
			req.ProtoReflect().Descriptor().FullName())
	}
	if field, what := invalidPart(req.ProtoReflect()); field != "" {
		return apierror.InvalidField(field, what)
	}
	return nil
}

// invalidPart returns the path of the first field that is unknown (its number) or holds a time or duration outside of
// protobuf's range, and what is wrong with it. Both are empty where there is none.
func invalidPart(m protoreflect.Message) (path, what string) {
	if unknown := m.GetUnknown(); len(unknown) > 0 {
		number, _, _ := protowire.ConsumeTag(unknown)
		return strconv.Itoa(int(number)), "this daemon does not know this field"
	}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.IsMap() || f.Kind() != protoreflect.MessageKind:
		case f.IsList():
			for i := range v.List().Len() {
				if inner, w := invalidPart(v.List().Get(i).Message()); w != "" {
					path, what = fmt.Sprintf("%s[%d].%s", f.Name(), i, inner), w
					return false
				}
			}
		default:
			if w := invalidTime(v.Message()); w != "" {
				path, what = string(f.Name()), w
				return false
			}
			if inner, w := invalidPart(v.Message()); w != "" {
				path, what = fmt.Sprintf("%s.%s", f.Name(), inner), w
				return false
			}
		}
		return true
	})
	return path, what
}

// invalidTime says what is wrong with a time or duration that JSON cannot express; empty where nothing is.
func invalidTime(m protoreflect.Message) string {
	switch t := m.Interface().(type) {
	case *timestamppb.Timestamp:
		if !t.IsValid() {
			return "a time must lie in the years 1 to 9999, with 0 to 999,999,999 nanoseconds"
		}
	case *durationpb.Duration:
		if !t.IsValid() {
			return "a span must be within 10,000 years, with nanoseconds of the same sign"
		}
	}
	return ""
}

func checkUnary(checks ...check) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		if err := checkAll(checks, req); err != nil {
			return nil, err
		}
		return handler(ctx, req)
	}
}

func checkStream(checks ...check) grpc.StreamServerInterceptor {
	return func(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
		return handler(srv, &checkedStream{ServerStream: stream, checks: checks})
	}
}

type checkedStream struct {
	grpc.ServerStream
	checks []check
}

// RecvMsg receives a message and checks it.
func (s *checkedStream) RecvMsg(m any) error {
	if err := s.ServerStream.RecvMsg(m); err != nil {
		return err
	}
	return checkAll(s.checks, m)
}

// CheckContract refuses a request that breaks the contract.
func CheckContract(req proto.Message) error {
	if err := knownFields(req); err != nil {
		return err
	}
	return protovalidate.Validate(req)
}

// checkAll checks a request. Requests of other services, health and reflection, have no rules and pass.
func checkAll(checks []check, req any) error {
	m, ok := req.(proto.Message)
	if !ok {
		return fmt.Errorf("request of type %T is no protobuf message", req)
	}
	for _, c := range checks {
		if err := c(m); err != nil {
			return err
		}
	}
	return nil
}
