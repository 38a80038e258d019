package requests

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/peer"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
)

// Receiver receives requests and decodes them, within the bounds. Its server needs Tap, and a Registrar.
type Receiver struct {
	// MaxBytes is the size of the largest request, until SetMaxBytes replaces it.
	MaxBytes int
	// Budget is the memory of the requests in flight.
	Budget *Budget
	// Patience is how long the next piece of a request may take to arrive. Default DefaultPatience.
	Patience time.Duration
	// Check refuses decoded requests before the contract's rules are evaluated. May be nil.
	Check func(req proto.Message) error
	// Enter waits until a decoded request may be checked, and that of a unary call carried out. It returns the context for
	// that and what must be called at its end. May be nil.
	Enter func(ctx context.Context, req proto.Message) (_ context.Context, leave func(), err error)
	// Received is told the bytes of each request. May be nil.
	Received func(ctx context.Context, bytes int)

	// replaced is what replaces MaxBytes; 0 for nothing.
	replaced atomic.Int64
}

// SetMaxBytes replaces the size of the largest request.
func (r *Receiver) SetMaxBytes(most int) { r.replaced.Store(int64(most)) }

func (r *Receiver) maxBytes() int {
	return cmp.Or(int(r.replaced.Load()), r.MaxBytes)
}

// Unary receives the request of a unary call. Its memory is reserved until the call ends.
func (r *Receiver) Unary(
	ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler,
) (any, error) {
	reserved, values, err := r.receive(ctx, req, false)
	if errors.Is(err, io.EOF) {
		err = errNoRequest()
	}
	if err != nil {
		return nil, err
	}
	defer reserved.release()
	return handler(context.WithValue(ctx, valuesKey{}, values), req)
}

// valuesKey is the context's key for how many values the request of a unary call holds.
type valuesKey struct{}

// EnterUnary lets the request of a unary call wait for Enter.
func (r *Receiver) EnterUnary(
	ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler,
) (any, error) {
	m, err := message(req)
	if err != nil {
		return nil, err
	}
	ctx, leave, err := r.enter(ctx, m)
	if err != nil {
		return nil, err
	}
	defer leave()
	return handler(ctx, req)
}

func (r *Receiver) enter(ctx context.Context, req proto.Message) (_ context.Context, leave func(), err error) {
	if r.Enter == nil {
		return ctx, func() {}, nil
	}
	return r.Enter(ctx, req)
}

// CheckUnary evaluates the contract's rules for the request of a unary call.
func CheckUnary(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	m, err := message(req)
	if err != nil {
		return nil, err
	}
	values, _ := ctx.Value(valuesKey{}).(int)
	if err := checkRules(ctx, m, values); err != nil {
		return nil, err
	}
	return handler(ctx, req)
}

// Stream receives the requests of a stream and evaluates the contract's rules for them. The memory of a request is
// reserved until the next one is received, or the stream ends.
func (r *Receiver) Stream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	receiving := &receivingStream{ServerStream: stream, receiver: r, several: info.IsClientStream}
	defer receiving.release()
	return handler(srv, receiving)
}

type receivingStream struct {
	grpc.ServerStream

	receiver *Receiver
	// several says that the stream may have several requests.
	several  bool
	reserved *share
}

// RecvMsg receives a request. Only its check waits for Enter, not what the stream does with it, which may take minutes.
func (s *receivingStream) RecvMsg(req any) error {
	s.release()
	reserved, values, err := s.receiver.receive(s.Context(), req, s.several)
	if errors.Is(err, io.EOF) && !s.several {
		return errNoRequest()
	}
	if err != nil {
		return err
	}
	s.reserved = reserved
	m, err := message(req)
	if err != nil {
		return err
	}
	ctx, leave, err := s.receiver.enter(s.Context(), m)
	if err != nil {
		return err
	}
	defer leave()
	return checkRules(ctx, m, values)
}

func (s *receivingStream) release() {
	if s.reserved != nil {
		s.reserved.release()
		s.reserved = nil
	}
}

// receive receives a request, reserves its memory, and says how many values it holds. more says that the call may have
// further ones.
func (r *Receiver) receive(ctx context.Context, req any, more bool) (reserved *share, values int, err error) {
	m, err := message(req)
	if err != nil {
		return nil, 0, err
	}
	content, reserved, err := r.arrive(ctx, more)
	if err != nil {
		return nil, 0, err
	}
	if r.Received != nil {
		r.Received(ctx, len(content))
	}
	admit := r.admit
	if isJSON(ctx) {
		admit = r.admitJSON
	}
	values, err = admit(ctx, m, content, reserved)
	if err != nil {
		reserved.release()
		return nil, 0, err
	}
	return reserved, values, nil
}

// admit decodes the bytes of a request once it has the memory for that, and says how many values it holds.
func (r *Receiver) admit(ctx context.Context, m proto.Message, wire []byte, reserved *share) (values int, err error) {
	if ctx.Err() != nil {
		return 0, apierror.EndCause(ctx)
	}
	held, err := count(m.ProtoReflect().Descriptor(), wire)
	if err != nil {
		return 0, r.Budget.refusal(asInvalid(err, m))
	}
	if err := reserved.arrived(held.memory + storedCopies*int64(len(wire))); err != nil {
		return 0, r.Budget.refusal(err)
	}
	if err := decode(m, wire); err != nil {
		return 0, err
	}
	if r.Check != nil {
		return held.values, r.Check(m)
	}
	return held.values, nil
}

// storedCopies is how often the bytes of a request are held beside the decoded request: as they came, and as they are
// written to the store.
const storedCopies = 2

// checkSize refuses requests that are too large. Its error names the limit, which gRPC's own error does not.
func (r *Receiver) checkSize(size int) error {
	most := r.maxBytes()
	if size <= most {
		return nil
	}
	return r.Budget.refusal(apierror.New(compactordv1.ErrorReason_ERROR_REASON_LIMIT_EXCEEDED,
		map[string]string{"limit": limitOfSize, "value": strconv.Itoa(most)},
		"the request has %d bytes; at most %d are accepted", size, most))
}

// decode decodes the bytes of a request that were counted.
func decode(m proto.Message, wire []byte) error {
	if err := proto.Unmarshal(wire, m); err != nil {
		return asInvalid(errBroken, m)
	}
	return asInvalid(checkTimes(m.ProtoReflect()), m)
}

// Decode decodes a request that a client sent within another one, and checks it like one that came by itself. The memory
// of the outer request is reserved, and the inner one may take as much.
func Decode(ctx context.Context, wire []byte, m proto.Message, mostMemory int64) error {
	held, err := count(m.ProtoReflect().Descriptor(), wire)
	if err != nil {
		return asInvalid(err, m)
	}
	if held.memory > mostMemory {
		return fmt.Errorf("a request within a request would take %d bytes of memory", held.memory)
	}
	if err := decode(m, wire); err != nil {
		return err
	}
	return checkRules(ctx, m, held.values)
}

// asInvalid turns an error of counting or decoding into the API's.
func asInvalid(err error, m proto.Message) error {
	var wrong *fieldError
	switch {
	case errors.As(err, &wrong):
		return apierror.InvalidField(wrong.path, wrong.what)
	case errors.Is(err, errBroken):
		return apierror.New(compactordv1.ErrorReason_ERROR_REASON_INVALID_FIELD, nil,
			"the request does not decode as %s: broken bytes, or text that is not UTF-8",
			m.ProtoReflect().Descriptor().FullName())
	default:
		return err
	}
}

// clientOf returns what stands for the client: its connection. Each connection has an address of its own, even where
// the texts of two are the same, as those of sockets of the file system.
func clientOf(ctx context.Context) net.Addr {
	if p, ok := peer.FromContext(ctx); ok {
		return p.Addr
	}
	return nil
}

func message(req any) (proto.Message, error) {
	m, ok := req.(proto.Message)
	if !ok {
		return nil, fmt.Errorf("request of type %T is no protobuf message", req)
	}
	return m, nil
}
