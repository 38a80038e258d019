package httpapi

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"google.golang.org/grpc/metadata"

	"github.com/compactord/compactord/service/unread"
)

var (
	// errNoReceiver says that the interceptors lack a requests.Receiver.
	errNoReceiver = errors.New("no interceptor receives requests")
	errEnded      = errors.New("the call has ended")
)

// outStream is the stream of an answer, for gRPC's interceptors and handlers.
type outStream struct {
	call *call
	send func(message any) error
	// header and trailer are those of the answer.
	header, trailer http.Header

	// sending is held while a message is written. A handler may send in another goroutine, which can outlive it.
	sending      sync.Mutex
	begun, ended bool
}

// Context is part of grpc.ServerStream.
func (s *outStream) Context() context.Context { return s.call.context() }

// SetHeader is part of grpc.ServerStream.
func (s *outStream) SetHeader(md metadata.MD) error { return s.call.SetHeader(md) }

// SendHeader is part of grpc.ServerStream. The header goes with the first message.
func (s *outStream) SendHeader(md metadata.MD) error { return s.call.SetHeader(md) }

// SetTrailer is part of grpc.ServerStream.
func (s *outStream) SetTrailer(md metadata.MD) { _ = s.call.SetTrailer(md) }

// SendMsg sends a message. It returns when the client has made room for it.
func (s *outStream) SendMsg(answer any) error {
	s.sending.Lock()
	defer s.sending.Unlock()
	if s.ended {
		// The writer is no longer this stream's to use.
		unread.Send(answer).Sent()
		return errEnded
	}
	message := s.call.writer.send(answer)
	defer s.call.writer.sent()
	if !s.begun {
		s.begun = true
		s.addHeader()
	}
	return s.send(message)
}

// addHeader adds what interceptors have set to the header of the answer.
func (s *outStream) addHeader() {
	s.call.mu.Lock()
	defer s.call.mu.Unlock()
	addTo(s.header, s.call.header)
}

// close lets no message be sent any more. One that is being written gets some time.
func (s *outStream) close() {
	if !s.sending.TryLock() {
		_ = s.call.writer.control.SetWriteDeadline(time.Now().Add(lastWords))
		s.sending.Lock()
	}
	defer s.sending.Unlock()
	s.ended = true
}

// addTrailer adds what interceptors have set to the trailer of the answer.
func (s *outStream) addTrailer() {
	s.call.mu.Lock()
	defer s.call.mu.Unlock()
	addTo(s.trailer, s.call.trailer)
}

// RecvMsg is part of grpc.ServerStream. A Receiver takes the request from the call itself.
func (*outStream) RecvMsg(any) error { return errNoReceiver }
