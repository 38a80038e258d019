package unread_test

import (
	"context"
	"log/slog"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	grpcproto "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/unread"
)

const answerBytes = 200 << 10

// sessions answers every ListMessages, and every watch, with a large message. It counts the calls that began.
type sessions struct {
	compactordv1.UnimplementedSessionServiceServer

	begun atomic.Int32
	// release lets the call for the session slow end.
	release chan struct{}
}

func large() *compactordv1.LoggedMessage {
	return &compactordv1.LoggedMessage{Message: &compactordv1.Message{Parts: []*compactordv1.Part{{
		Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: strings.Repeat("x", answerBytes)}},
	}}}}
}

// missing is a session that does not exist, and slow one whose answer takes long to make.
const missing, slow = "missing", "slow"

func (s *sessions) ListMessages(
	_ context.Context, req *compactordv1.ListMessagesRequest,
) (*compactordv1.ListMessagesResponse, error) {
	s.begun.Add(1)
	if req.GetSessionId() == slow {
		<-s.release
	}
	if req.GetSessionId() == missing {
		return nil, apierror.New(compactordv1.ErrorReason_ERROR_REASON_SESSION_NOT_FOUND, nil, "no session")
	}
	return &compactordv1.ListMessagesResponse{Messages: []*compactordv1.LoggedMessage{large()}}, nil
}

func (s *sessions) GetSession(
	context.Context, *compactordv1.GetSessionRequest,
) (*compactordv1.GetSessionResponse, error) {
	return &compactordv1.GetSessionResponse{}, nil
}

func (s *sessions) WatchSession(
	_ *compactordv1.WatchSessionRequest, stream grpc.ServerStreamingServer[compactordv1.WatchSessionResponse],
) error {
	for {
		s.begun.Add(1)
		err := stream.Send(&compactordv1.WatchSessionResponse{
			Kind: &compactordv1.WatchSessionResponse_Message{Message: large()},
		})
		if err != nil {
			return err
		}
	}
}

// server serves sessions with counted answers.
type server struct {
	*sessions

	registry *prometheus.Registry
	dial     func(ctx context.Context, address string) (net.Conn, error)
	t        *testing.T
}

func serve(
	t *testing.T, listener net.Listener, dial func(ctx context.Context, address string) (net.Conn, error),
	options unread.Options,
) *server {
	t.Helper()
	s := &server{sessions: &sessions{release: make(chan struct{})}, registry: prometheus.NewRegistry(), dial: dial, t: t}
	options.Logger, options.Metrics = slog.New(slog.DiscardHandler), s.registry
	answers, err := unread.New(options)
	require.NoError(t, err)
	status := func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		answer, err := handler(ctx, req)
		if err != nil {
			return nil, apierror.From(err, "").GRPCStatus().Err()
		}
		return answer, nil
	}
	g := grpc.NewServer(grpc.ChainUnaryInterceptor(status, answers.Unary()), grpc.ChainStreamInterceptor(answers.Stream()),
		grpc.ForceServerCodecV2(unread.Codec{CodecV2: encoding.GetCodecV2(grpcproto.Name)}))
	compactordv1.RegisterSessionServiceServer(g, s.sessions)
	served := make(chan error, 1)
	go func() { served <- g.Serve(answers.Listener(listener)) }()
	t.Cleanup(func() {
		g.Stop()
		require.NoError(t, <-served)
	})
	return s
}

// onTCP serves on a real listener.
func onTCP(t *testing.T, options unread.Options) *server {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	return serve(t, listener, func(ctx context.Context, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", listener.Addr().String())
	}, options)
}

// inMemory serves without a network, so that synctest can advance the clock.
func inMemory(t *testing.T, options unread.Options) *server {
	t.Helper()
	listener := bufconn.Listen(1 << 16)
	return serve(t, listener, func(ctx context.Context, _ string) (net.Conn, error) {
		return listener.DialContext(ctx)
	}, options)
}

// connect returns a connection whose streams have small windows, as those of a client that does not read.
func (s *server) connect() *grpc.ClientConn {
	s.t.Helper()
	conn, err := grpc.NewClient("passthrough:///daemon",
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithContextDialer(s.dial),
		grpc.WithInitialWindowSize(1<<16), grpc.WithInitialConnWindowSize(1<<16))
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// ask sends a ListMessages and does not read its answer.
func (s *server) ask(conn *grpc.ClientConn) grpc.ClientStream {
	s.t.Helper()
	stream, err := conn.NewStream(s.t.Context(), &grpc.StreamDesc{}, compactordv1.SessionService_ListMessages_FullMethodName)
	require.NoError(s.t, err)
	require.NoError(s.t, stream.SendMsg(&compactordv1.ListMessagesRequest{MaxBytes: 256 << 10}))
	require.NoError(s.t, stream.CloseSend())
	return stream
}

// metric returns the value of a metric, of all its labels together.
func (s *server) metric(name string) float64 {
	s.t.Helper()
	families, err := s.registry.Gather()
	require.NoError(s.t, err)
	sum := 0.0
	for _, f := range families {
		if f.GetName() == name {
			for _, m := range f.GetMetric() {
				sum += value(m)
			}
		}
	}
	return sum
}

func value(m *dto.Metric) float64 { return m.GetGauge().GetValue() + m.GetCounter().GetValue() }

// Only as many calls run as their answers have room, and the others get a status though nothing is read.
func TestAnswersThatAreNotReadAreBounded(t *testing.T) {
	t.Parallel()
	s := onTCP(t, unread.Options{Connection: 1 << 20, Wait: 10 * time.Millisecond})
	conn := s.connect()
	streams := make([]grpc.ClientStream, 0, 20)
	for range 20 {
		streams = append(streams, s.ask(conn))
	}
	for _, stream := range streams {
		_, err := stream.Header()
		require.NoError(t, err)
	}
	require.Equal(t, int32(4), s.begun.Load(), "four answers of 200 KiB and one of at most 256 do not fit into 1 MiB")
	require.InDelta(t, 4*answerBytes, s.metric("compactord_unread_answer_bytes"), 4096)

	read := 0
	for _, stream := range streams {
		answer := new(compactordv1.ListMessagesResponse)
		err := stream.RecvMsg(answer)
		if err == nil {
			read++
			continue
		}
		require.Equal(t, codes.ResourceExhausted, status.Code(err))
		require.Contains(t, status.Convert(err).Message(), "have not been read")
	}
	require.Equal(t, 4, read)
	// What was read is free again: this answer has room only where nothing else is unread.
	_, err := compactordv1.NewSessionServiceClient(conn).ListMessages(t.Context(),
		&compactordv1.ListMessagesRequest{MaxBytes: 1 << 20}, grpc.WaitForReady(true))
	require.NoError(t, err)
}

// A call that fails gives back the room that its answer would have taken.
func TestCallsThatFailLeaveTheirRoom(t *testing.T) {
	t.Parallel()
	s := onTCP(t, unread.Options{Connection: 1 << 20, Wait: 10 * time.Millisecond})
	client := compactordv1.NewSessionServiceClient(s.connect())
	for range 5 {
		_, err := client.ListMessages(t.Context(), &compactordv1.ListMessagesRequest{SessionId: missing, MaxBytes: 512 << 10})
		require.Equal(t, codes.NotFound, status.Code(err), "%v", err)
	}
	_, err := client.ListMessages(t.Context(), &compactordv1.ListMessagesRequest{MaxBytes: 512 << 10})
	require.NoError(t, err)
}

// Answers that are being made on one connection take room from all others, until they are made or the client is gone.
func TestAnswersInTheMakingCountForAll(t *testing.T) {
	t.Parallel()
	s := onTCP(t, unread.Options{Total: 1 << 20, Wait: 10 * time.Millisecond})
	one, other := compactordv1.NewSessionServiceClient(s.connect()), compactordv1.NewSessionServiceClient(s.connect())
	ask := func() error {
		_, err := other.ListMessages(t.Context(), &compactordv1.ListMessagesRequest{MaxBytes: 256 << 10})
		return err
	}
	// One answer alone may be larger than what there is for all.
	for _, bytes := range []uint32{1 << 20, 2 << 20} {
		var group errgroup.Group
		begun := s.begun.Load()
		group.Go(func() error {
			_, err := one.ListMessages(t.Context(), &compactordv1.ListMessagesRequest{SessionId: slow, MaxBytes: bytes})
			return err
		})
		for s.begun.Load() == begun {
			runtime.Gosched()
		}
		require.Equal(t, codes.ResourceExhausted, status.Code(ask()))
		s.release <- struct{}{}
		require.NoError(t, group.Wait())
		require.NoError(t, ask())
	}
	leaver := s.connect()
	stream, err := leaver.NewStream(t.Context(), &grpc.StreamDesc{}, compactordv1.SessionService_ListMessages_FullMethodName)
	require.NoError(t, err)
	begun := s.begun.Load()
	require.NoError(t, stream.SendMsg(&compactordv1.ListMessagesRequest{SessionId: slow, MaxBytes: 1 << 20}))
	require.NoError(t, stream.CloseSend())
	for s.begun.Load() == begun {
		runtime.Gosched()
	}
	require.NoError(t, leaver.Close())
	for ask() != nil {
		runtime.Gosched()
	}
	s.release <- struct{}{}
	require.NoError(t, ask())
}

// An answer that is smaller than expected leaves the rest of its room at once, though it is not read.
func TestRoomThatWasNotNeededIsFree(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := inMemory(t, unread.Options{Total: 1 << 20})
		stream, err := s.connect().NewStream(
			t.Context(), &grpc.StreamDesc{}, compactordv1.SessionService_ListMessages_FullMethodName)
		require.NoError(t, err)
		require.NoError(t, stream.SendMsg(&compactordv1.ListMessagesRequest{SessionId: slow, MaxBytes: 1 << 20}))
		require.NoError(t, stream.CloseSend())
		synctest.Wait()
		other, began := compactordv1.NewSessionServiceClient(s.connect()), time.Now()
		var group errgroup.Group
		group.Go(func() error {
			_, err := other.ListMessages(t.Context(), &compactordv1.ListMessagesRequest{MaxBytes: 256 << 10})
			return err
		})
		synctest.Wait()
		s.release <- struct{}{}
		require.NoError(t, group.Wait())
		require.Zero(t, time.Since(began))
	})
}

// A client that goes on to read gets the answers that waited for room.
func TestCallsWaitForRoom(t *testing.T) {
	t.Parallel()
	s := onTCP(t, unread.Options{Connection: 1 << 20})
	conn := s.connect()
	var group errgroup.Group
	for range 20 {
		stream := s.ask(conn)
		group.Go(func() error { return stream.RecvMsg(new(compactordv1.ListMessagesResponse)) })
	}
	require.NoError(t, group.Wait())
	require.Equal(t, int32(20), s.begun.Load())
}

// The client stops reading for good: after the minute it is disconnected, and not before.
func TestClientThatReadsNothingIsDisconnected(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := inMemory(t, unread.Options{})
		conn := s.connect()
		stream := s.ask(conn)
		<-time.After(59 * time.Second)
		synctest.Wait()
		require.Zero(t, s.metric("compactord_slow_readers_total"))
		require.Positive(t, s.metric("compactord_unread_answer_bytes"))
		<-time.After(2 * time.Second)
		synctest.Wait()
		require.InDelta(t, 1, s.metric("compactord_slow_readers_total"), 0)
		require.Zero(t, s.metric("compactord_unread_answer_bytes"))
		require.Equal(t, codes.Unavailable, status.Code(stream.RecvMsg(new(compactordv1.ListMessagesResponse))))
		// The client may come again.
		_, err := compactordv1.NewSessionServiceClient(conn).GetSession(t.Context(), &compactordv1.GetSessionRequest{})
		require.NoError(t, err)
	})
}

// The calls that wait for room do not all begin when their client is disconnected: together they would take more memory
// than all that is bounded.
func TestCallsOfADisconnectedClientDoNotBegin(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := inMemory(t, unread.Options{Connection: 1 << 20, Patience: 5 * time.Second, Wait: time.Minute})
		conn := s.connect()
		for range 200 {
			s.ask(conn)
		}
		synctest.Wait()
		require.Equal(t, int32(4), s.begun.Load())
		<-time.After(6 * time.Second)
		synctest.Wait()
		require.InDelta(t, 1, s.metric("compactord_slow_readers_total"), 0)
		require.Equal(t, int32(4), s.begun.Load())
	})
}

// A client that reads something now and then stays, though something else is unread all the time.
func TestClientThatReadsSlowlyStays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := inMemory(t, unread.Options{})
		conn := s.connect()
		s.ask(conn)
		for range 5 {
			<-time.After(50 * time.Second)
			require.NoError(t, s.ask(conn).RecvMsg(new(compactordv1.ListMessagesResponse)))
			synctest.Wait()
		}
		require.Zero(t, s.metric("compactord_slow_readers_total"))
	})
}

// Few clients that do not read cannot take the room of all others.
func TestClientThatReadsNothingMakesRoomForOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := inMemory(t, unread.Options{Connection: 1 << 20, Total: 1 << 20})
		first, other := s.connect(), s.connect()
		for range 4 {
			s.ask(first)
		}
		synctest.Wait()
		began := time.Now()
		require.NoError(t, s.ask(other).RecvMsg(new(compactordv1.ListMessagesResponse)))
		require.LessOrEqual(t, time.Since(began), 2*time.Second)
		require.InDelta(t, 1, s.metric("compactord_slow_readers_total"), 0)
	})
}

// Small answers need no room: those of writes and errors come through.
func TestSmallAnswersDoNotWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := inMemory(t, unread.Options{Connection: 1 << 20, Total: 1 << 20})
		conn := s.connect()
		for range 4 {
			s.ask(conn)
		}
		synctest.Wait()
		began := time.Now()
		_, err := compactordv1.NewSessionServiceClient(conn).GetSession(t.Context(), &compactordv1.GetSessionRequest{})
		require.NoError(t, err)
		require.Zero(t, time.Since(began))
	})
}

// Messages of streams count too: a stream waits where its client does not read, and ends with the connection.
func TestStreamsThatAreNotRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := inMemory(t, unread.Options{Connection: 1 << 20})
		conn := s.connect()
		for range 20 {
			_, err := compactordv1.NewSessionServiceClient(conn).WatchSession(t.Context(), &compactordv1.WatchSessionRequest{})
			require.NoError(t, err)
		}
		synctest.Wait()
		require.LessOrEqual(t, s.metric("compactord_unread_answer_bytes"), float64(1<<20))
		require.Positive(t, s.metric("compactord_unread_answer_bytes"))
		<-time.After(61 * time.Second)
		synctest.Wait()
		require.Zero(t, s.metric("compactord_unread_answer_bytes"))
	})
}
