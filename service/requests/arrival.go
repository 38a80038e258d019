package requests

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/tap"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
)

const (
	// DefaultPatience is how long a piece of a request may take to arrive.
	DefaultPatience = time.Minute
	// headerBytes is the length of what stands before a message: whether it is compressed, and its length.
	headerBytes = 5
	// hardLimitFactor is up to how many times the largest size a request is received to its end and then refused. Some
	// clients do not get the refusal while they still send.
	hardLimitFactor = 2
	// gRPC holds an object for each frame of a piece, and a frame can have one byte. So most requests arrive in narrow
	// pieces, and only few at a time in wide ones, which need fewer round trips where a client is far away.
	narrowPiece  = 4 << 10
	widePiece    = 512 << 10
	widePassages = 8
)

// incoming is the side of a call's stream from which gRPC itself reads requests.
type incoming interface {
	// ReadMessageHeader fills the header. Its error is io.EOF where there is no further message.
	ReadMessageHeader(header []byte) error
	// Read waits for n bytes. gRPC lets the client send so many.
	Read(n int) (mem.BufferSlice, error)
}

// bare is an incoming stream of one message that has no header, as HTTP requests have it.
type bare interface {
	// Length returns the length of the message, or -1 where the client does not say it.
	Length() int
	// ReadSome reads what has arrived, or waits for something. Its error is io.EOF at the end.
	ReadSome(into []byte) (int, error)
}

// endKey is the context's key for the function that ends a call.
type endKey struct{}

// Tap lets Receivers end the calls whose requests do not arrive, and End others.
func Tap(ctx context.Context, _ *tap.Info) (context.Context, error) { return Endable(ctx), nil }

// Endable is Tap for a server that is not gRPC's. The caller must End the call when it is over.
func Endable(ctx context.Context) context.Context {
	ctx, end := context.WithCancelCause(ctx)
	return context.WithValue(ctx, endKey{}, end)
}

// End ends a call that came through Tap or Endable, for a cause that its handler finds in the context.
func End(ctx context.Context, cause error) {
	if end, endable := ctx.Value(endKey{}).(context.CancelCauseFunc); endable {
		end(cause)
	}
}

// arrival is a request while it arrives.
type arrival struct {
	*Receiver

	stream incoming
	end    context.CancelCauseFunc
	timer  *time.Timer
}

// arrive receives the bytes of the next request of a call, and reserves memory for them before they come. Where
// gRPC received them, a client could make it hold as many as it likes, for as long as it likes. The error is io.EOF where
// there is none. more says that the call may have further requests.
func (r *Receiver) arrive(ctx context.Context, more bool) ([]byte, *share, error) {
	stream, readable := grpc.ServerTransportStreamFromContext(ctx).(incoming)
	end, endable := ctx.Value(endKey{}).(context.CancelCauseFunc)
	if !readable || !endable {
		return nil, nil, errors.New("the server does not let requests be received")
	}
	a := &arrival{Receiver: r, stream: stream, end: end}
	if !more {
		a.startTimer()
	}
	defer a.stopTimer()
	wire, reserved, err := a.next(ctx)
	if err == nil && !more {
		err = a.last(ctx)
	}
	if err != nil && reserved != nil {
		reserved.release()
	}
	return wire, reserved, err
}

// next receives a message, of any form.
func (a *arrival) next(ctx context.Context) ([]byte, *share, error) {
	length, err := a.length(ctx)
	if err != nil {
		return nil, nil, err
	}
	a.startTimer()
	if length < 0 {
		return a.unsized(ctx)
	}
	return a.message(ctx, length)
}

// length reads the header of a message. It is -1 where only the end of the message shows it.
func (a *arrival) length(ctx context.Context) (int, error) {
	if whole, is := a.stream.(bare); is {
		return whole.Length(), nil
	}
	var header [headerBytes]byte
	if err := a.stream.ReadMessageHeader(header[:]); err != nil {
		return 0, a.broken(ctx, err)
	}
	if header[0] != 0 {
		return 0, apierror.New(compactordv1.ErrorReason_ERROR_REASON_INVALID_FIELD, nil, "the request is compressed")
	}
	return int(binary.BigEndian.Uint32(header[1:])), nil
}

// message receives a message of a known length. What is refused is received too, but not kept.
func (a *arrival) message(ctx context.Context, length int) ([]byte, *share, error) {
	if err := a.checkSize(length); err != nil {
		if length <= hardLimitFactor*a.maxBytes() {
			a.discard(length)
		}
		return nil, nil, err
	}
	reserved, err := a.Budget.takeArriving(clientOf(ctx), int64(length), a.end)
	if err != nil {
		a.discard(length)
		return nil, nil, a.Budget.refusal(err)
	}
	wire := make([]byte, 0, length)
	for len(wire) < length {
		piece, err := a.piece(length - len(wire))
		if err != nil {
			return nil, reserved, a.broken(ctx, err)
		}
		for _, part := range piece {
			wire = append(wire, part.ReadOnlyData()...)
		}
		piece.Free()
		reserved.advance()
	}
	return wire, reserved, nil
}

// discard receives a message that was refused. Its end matters to the client only.
func (a *arrival) discard(length int) {
	for length > 0 {
		piece, err := a.piece(length)
		if err != nil {
			return
		}
		length -= piece.Len()
		piece.Free()
	}
}

// piece receives a part of the bytes that are left of a message.
func (a *arrival) piece(left int) (mem.BufferSlice, error) {
	bytes := narrowPiece
	if left > smallBytes {
		select {
		case a.Budget.wide <- struct{}{}:
			defer func() { <-a.Budget.wide }()
			bytes = widePiece
		default:
		}
	}
	a.startTimer()
	return a.stream.Read(min(left, bytes))
}

// last waits for the client's word that the message was the only one.
func (a *arrival) last(ctx context.Context) error {
	if _, is := a.stream.(bare); is {
		return nil
	}
	a.startTimer()
	var header [headerBytes]byte
	switch err := a.stream.ReadMessageHeader(header[:]); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return a.broken(ctx, err)
	default:
		return apierror.New(compactordv1.ErrorReason_ERROR_REASON_INVALID_FIELD, nil, "the call has more than one request")
	}
}

// broken returns why a message did not arrive.
func (a *arrival) broken(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return a.Budget.refusal(apierror.EndCause(ctx))
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return apierror.New(compactordv1.ErrorReason_ERROR_REASON_INVALID_FIELD, nil, "the request ends too early")
	}
	return err
}

func (a *arrival) startTimer() {
	if a.timer != nil {
		a.timer.Reset(a.patience())
		return
	}
	limit := a.patience()
	a.timer = time.AfterFunc(limit, func() {
		a.Budget.refused.WithLabelValues(limitOfTime).Inc()
		a.end(apierror.SlowSender(limit))
	})
}

func (a *arrival) stopTimer() {
	if a.timer != nil {
		a.timer.Stop()
	}
}

func (r *Receiver) patience() time.Duration {
	if r.Patience == 0 {
		return DefaultPatience
	}
	return r.Patience
}

// errNoRequest is io.EOF for calls that must have a request.
func errNoRequest() error {
	return apierror.New(compactordv1.ErrorReason_ERROR_REASON_INVALID_FIELD, nil, "the call has no request")
}

// Registrar registers services whose requests a Receiver receives in place of gRPC, which would hold all of a request
// before the first interceptor of a unary call runs.
type Registrar struct{ *grpc.Server }

// RegisterService registers a service.
func (r Registrar) RegisterService(desc *grpc.ServiceDesc, service any) {
	unread := *desc
	unread.Methods = make([]grpc.MethodDesc, len(desc.Methods))
	for i, method := range desc.Methods {
		unread.Methods[i] = grpc.MethodDesc{MethodName: method.MethodName, Handler: withoutReceiving(method.Handler)}
	}
	r.Server.RegisterService(&unread, service)
}

// withoutReceiving returns a handler whose request is left as it is until the interceptors run.
func withoutReceiving(handler grpc.MethodHandler) grpc.MethodHandler {
	return func(service any, ctx context.Context, _ func(any) error, chain grpc.UnaryServerInterceptor) (any, error) {
		if chain == nil {
			return nil, fmt.Errorf("%T has no interceptor that receives requests", service)
		}
		return handler(service, ctx, func(any) error { return nil }, chain)
	}
}
