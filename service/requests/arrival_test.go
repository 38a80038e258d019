package requests_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/requests"
)

const (
	maxBytes = 2 << 20
	inflight = 16 << 20
)

// sessions answers appends with the length of their first text, and watches with nothing.
type sessions struct {
	compactordv1.UnimplementedSessionServiceServer
}

func (sessions) AppendMessages(
	_ context.Context, req *compactordv1.AppendMessagesRequest,
) (*compactordv1.AppendMessagesResponse, error) {
	text := req.GetMessages()[0].GetParts()[0].GetText().GetText()
	return &compactordv1.AppendMessagesResponse{NextIndex: uint32(len(text))}, nil
}

func (sessions) WatchSession(
	*compactordv1.WatchSessionRequest, grpc.ServerStreamingServer[compactordv1.WatchSessionResponse],
) error {
	return nil
}

type server struct {
	t        *testing.T
	listener *bufconn.Listener
	metrics  *prometheus.Registry
	network  network
	carriers sync.WaitGroup
	// trust is what an encrypted client needs; nil where nothing is encrypted.
	trust *tls.Config
}

func serve(t *testing.T) *server {
	t.Helper()
	return serveOver(t, network{})
}

// serveOver starts a server that clients reach over a network.
func serveOver(t *testing.T, over network) *server {
	t.Helper()
	s := &server{t: t, listener: bufconn.Listen(256 << 10), metrics: prometheus.NewRegistry(), network: over}
	t.Cleanup(s.carriers.Wait)
	secrets := insecure.NewCredentials()
	if over.encrypted {
		var own *tls.Config
		own, s.trust = encryption(t)
		secrets = credentials.NewTLS(own)
	}
	budget, err := requests.NewBudget(inflight, s.metrics)
	require.NoError(t, err)
	receiver := &requests.Receiver{MaxBytes: maxBytes, Budget: budget}
	asStatus := func(err error) error {
		if err == nil {
			return nil
		}
		return apierror.From(err, "").GRPCStatus().Err()
	}
	g := grpc.NewServer(
		grpc.Creds(secrets), grpc.InTapHandle(requests.Tap), grpc.StaticStreamWindowSize(64<<10), grpc.WaitForHandlers(true),
		grpc.ChainUnaryInterceptor(func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
			answer, err := handler(ctx, req)
			return answer, asStatus(err)
		}, receiver.Unary, requests.CheckUnary),
		grpc.ChainStreamInterceptor(func(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
			return asStatus(handler(srv, stream))
		}, receiver.Stream),
	)
	compactordv1.RegisterSessionServiceServer(requests.Registrar{Server: g}, sessions{})
	done := make(chan error, 1)
	go func() { done <- g.Serve(s.listener) }()
	t.Cleanup(func() {
		g.Stop()
		require.NoError(t, <-done)
	})
	return s
}

// reserved returns what requests have reserved.
func (s *server) reserved() float64 {
	s.t.Helper()
	families, err := s.metrics.Gather()
	require.NoError(s.t, err)
	for _, f := range families {
		if f.GetName() == "compactord_requests_in_flight_bytes" {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	return -1
}

// connect returns an ordinary client on a connection of its own.
func (s *server) connect() compactordv1.SessionServiceClient {
	s.t.Helper()
	secrets := insecure.NewCredentials()
	if s.trust != nil {
		secrets = credentials.NewTLS(s.trust)
	}
	conn, err := grpc.NewClient("passthrough:///daemon", grpc.WithTransportCredentials(secrets), grpc.WithContextDialer(s.dial))
	require.NoError(s.t, err)
	s.t.Cleanup(func() { require.NoError(s.t, conn.Close()) })
	return compactordv1.NewSessionServiceClient(conn)
}

// attacker is a client on a connection of its own that sends what it likes.
type attacker struct {
	t         *testing.T
	transport *http.Transport
	scheme    string
}

func (s *server) attack() *attacker {
	protocols := new(http.Protocols)
	scheme := "http"
	if s.trust == nil {
		protocols.SetUnencryptedHTTP2(true)
	} else {
		protocols.SetHTTP2(true)
		scheme = "https"
	}
	a := &attacker{s.t, &http.Transport{
		Protocols: protocols, TLSClientConfig: s.trust.Clone(),
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) { return s.dial(ctx, address) },
	}, scheme}
	s.t.Cleanup(a.transport.CloseIdleConnections)
	return a
}

// call is a call whose request goes on until its end is told.
type call struct {
	*io.PipeWriter
	status chan codes.Code
}

func (a *attacker) call(method string) *call {
	a.t.Helper()
	body, out := io.Pipe()
	req, err := http.NewRequestWithContext(a.t.Context(), http.MethodPost, a.scheme+"://daemon"+method, body)
	require.NoError(a.t, err)
	req.Header = http.Header{"Content-Type": {"application/grpc"}, "Te": {"trailers"}}
	c := &call{out, make(chan codes.Code, 1)}
	go func() {
		defer close(c.status)
		answer, err := a.transport.RoundTrip(req)
		if err != nil {
			return
		}
		var code int
		_, _ = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
		for _, text := range append(answer.Header["Grpc-Status"], answer.Trailer["Grpc-Status"]...) {
			for _, digit := range text {
				code = 10*code + int(digit-'0')
			}
		}
		c.status <- codes.Code(code)
	}()
	a.t.Cleanup(func() { _ = out.CloseWithError(errors.New("the test is over")) })
	return c
}

// announce sends the header of a message of so many bytes.
func (c *call) announce(length uint32) {
	_, _ = c.Write(binary.BigEndian.AppendUint32([]byte{0}, length))
}

func (a *attacker) append() *call {
	return a.call(compactordv1.SessionService_AppendMessages_FullMethodName)
}

func appending(text string) *compactordv1.AppendMessagesRequest {
	return &compactordv1.AppendMessagesRequest{SessionId: "s", Messages: []*compactordv1.Message{{
		Role:  compactordv1.Role_ROLE_USER,
		Parts: []*compactordv1.Part{{Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: text}}}},
	}}}
}

// Requests of all sizes arrive whole, many at a time on one connection, and nothing stays reserved.
func TestRequestsArrive(t *testing.T) {
	t.Parallel()
	s := serve(t)
	client := s.connect()
	var group errgroup.Group
	group.SetLimit(4)
	for _, bytes := range []int{1, 4 << 10, 64 << 10, 65 << 10, 300 << 10, 512<<10 + 7} {
		for range 4 {
			group.Go(func() error {
				text := make([]byte, bytes)
				for i := range text {
					text[i] = 'a' + byte(rand.N(26))
				}
				answer, err := client.AppendMessages(t.Context(), appending(string(text)))
				if err == nil && answer.GetNextIndex() != uint32(bytes) {
					return errors.New("not the whole request")
				}
				return err
			})
		}
	}
	require.NoError(t, group.Wait())
	require.Zero(t, s.reserved())
}

// A request whose next piece does not come is ended after a minute, wherever it stops.
func TestRequestThatStopsToArrive(t *testing.T) {
	t.Parallel()
	wire, err := proto.Marshal(appending("x"))
	require.NoError(t, err)
	for name, send := range map[string]func(*call){
		"before its header": func(*call) {},
		"in its header":     func(c *call) { _, _ = c.Write([]byte{0, 0}) },
		"in its message": func(c *call) {
			c.announce(1 << 20)
			_, _ = c.Write(make([]byte, 100<<10))
		},
		"before the call's end": func(c *call) {
			c.announce(uint32(len(wire)))
			_, _ = c.Write(wire)
		},
	} {
		for _, method := range []string{
			compactordv1.SessionService_AppendMessages_FullMethodName, compactordv1.SessionService_WatchSession_FullMethodName,
		} {
			t.Run(name+method, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := serve(t)
					c := s.attack().call(method)
					send(c)
					<-time.After(59 * time.Second)
					synctest.Wait()
					require.Empty(t, c.status)
					<-time.After(2 * time.Second)
					synctest.Wait()
					require.Equal(t, codes.DeadlineExceeded, <-c.status)
					require.Zero(t, s.reserved())
				})
			})
		}
	}
}

// A client that sends slowly may go on for as long as pieces come.
func TestSlowRequestArrives(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := serve(t)
		c := s.attack().append()
		wire, err := proto.Marshal(appending(string(bytes.Repeat([]byte("x"), 60<<10))))
		require.NoError(t, err)
		c.announce(uint32(len(wire)))
		for len(wire) > 0 {
			n := min(len(wire), 4<<10)
			_, err := c.Write(wire[:n])
			require.NoError(t, err)
			wire = wire[n:]
			<-time.After(50 * time.Second)
		}
		require.NoError(t, c.Close())
		require.Equal(t, codes.OK, <-c.status)
	})
}

// One connection can have the memory of few requests that stop, and small ones of the same still run.
func TestRequestsThatStopAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := serve(t)
		a := s.attack()
		calls := make([]*call, 50)
		for i := range calls {
			calls[i] = a.append()
			calls[i].announce(maxBytes)
		}
		synctest.Wait()
		require.InDelta(t, 3*maxBytes, s.reserved(), 0, "half of the bytes, without the part for small requests")
		small := a.append()
		wire, err := proto.Marshal(appending("x"))
		require.NoError(t, err)
		small.announce(uint32(len(wire)))
		_, err = small.Write(wire)
		require.NoError(t, err)
		require.NoError(t, small.Close())
		require.Equal(t, codes.OK, <-small.status)
		got := make(map[codes.Code]int)
		for _, c := range calls {
			got[<-c.status]++
		}
		require.Equal(t, map[codes.Code]int{codes.DeadlineExceeded: 3, codes.ResourceExhausted: 47}, got)
		require.Zero(t, s.reserved())
	})
}

// Where others need the memory, a request that has stopped for a second gives way to one that comes.
func TestRequestThatStopsGivesWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := serve(t)
		var calls []*call
		for range 2 {
			a := s.attack()
			for range 3 {
				c := a.append()
				c.announce(maxBytes)
				calls = append(calls, c)
			}
		}
		synctest.Wait()
		_, err := s.connect().AppendMessages(t.Context(), appending(string(make([]byte, 1<<20))))
		require.Equal(t, codes.ResourceExhausted, status.Code(err), "they may still come")
		<-time.After(2 * time.Second)
		began := time.Now()
		_, err = s.connect().AppendMessages(t.Context(), appending(string(make([]byte, 1<<20))))
		require.NoError(t, err)
		require.Zero(t, time.Since(began))
		synctest.Wait()
		ended := 0
		for _, c := range calls {
			select {
			case code := <-c.status:
				require.Equal(t, codes.ResourceExhausted, code)
				ended++
			default:
			}
		}
		require.Equal(t, 2, ended, "no more than it needs: one for its bytes, and one for what they become")
	})
}

// What is no single request is refused, and what is too large is not kept.
func TestCallsWithoutOneRequest(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		bytes []byte
		rest  int
		want  codes.Code
	}{
		"nothing":          {nil, 0, codes.InvalidArgument},
		"part of a header": {[]byte{0, 0}, 0, codes.InvalidArgument},
		"too short":        {[]byte{0, 0, 0, 0, 9, 1}, 0, codes.InvalidArgument},
		"two":              {[]byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 0, codes.InvalidArgument},
		"compressed":       {[]byte{1, 0, 0, 0, 0}, 0, codes.InvalidArgument},
		"too large":        {[]byte{0, 0, 0x30, 0, 0}, 3 << 20, codes.ResourceExhausted},
		"far too large":    {[]byte{0, 0xff, 0xff, 0xff, 0xff}, 0, codes.ResourceExhausted},
	} {
		for _, method := range []string{
			compactordv1.SessionService_AppendMessages_FullMethodName, compactordv1.SessionService_WatchSession_FullMethodName,
		} {
			t.Run(name+method, func(t *testing.T) {
				t.Parallel()
				s := serve(t)
				c := s.attack().call(method)
				_, _ = c.Write(append(test.bytes, make([]byte, test.rest)...))
				if name != "far too large" {
					require.NoError(t, c.Close())
				}
				require.Equal(t, test.want, <-c.status)
				require.Zero(t, s.reserved())
			})
		}
	}
}
