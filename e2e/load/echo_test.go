package load

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// echoVariable is the variable of the environment that makes this program the echo server.
const echoVariable = "COMPACTORD_LOAD_ECHO"

// echo is a plain gRPC server in a process of its own.
type echo struct {
	b    *testing.B
	conn *grpc.ClientConn
}

// startEcho starts an echo server that ends with the benchmark.
func startEcho(b *testing.B) *echo {
	b.Helper()
	itself, err := os.Executable()
	require.NoError(b, err)
	cmd := exec.CommandContext(b.Context(), itself)
	cmd.Env = append(os.Environ(), echoVariable+"=1")
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	require.NoError(b, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, cmd.Start())
	b.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Wait()
	})
	address, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(b, err)
	return &echo{b: b, conn: dial(b, strings.TrimSpace(address))}
}

// bytes sends a payload, and receives a few bytes.
func (e *echo) bytes(payload []byte) {
	if err := e.conn.Invoke(e.b.Context(), "/echo.Echo/Bytes", wrapperspb.Bytes(payload), &wrapperspb.BytesValue{}); err != nil {
		e.b.Fatal(err)
	}
}

// hold gives the server the view that it sends from now on.
func (e *echo) hold(view *compactordv1.GetLLMViewResponse) {
	require.NoError(e.b, e.conn.Invoke(e.b.Context(), "/echo.Echo/Hold", view, &emptypb.Empty{}))
}

// view receives the view that the server holds.
func (e *echo) view() {
	if err := e.conn.Invoke(e.b.Context(), "/echo.Echo/View", &emptypb.Empty{}, &compactordv1.GetLLMViewResponse{}); err != nil {
		e.b.Fatal(err)
	}
}

// serveEcho is the program of the echo server. It prints its address, and ends with its stdin.
func serveEcho() error {
	var held atomic.Pointer[compactordv1.GetLLMViewResponse]
	method := func(name string, handle func(decode func(any) error) (any, error)) grpc.MethodDesc {
		return grpc.MethodDesc{
			MethodName: name,
			Handler: func(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
				return handle(decode)
			},
		}
	}
	server := grpc.NewServer(grpc.MaxRecvMsgSize(maxBytes), grpc.MaxSendMsgSize(maxBytes))
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: "echo.Echo", HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{
			method("Bytes", func(decode func(any) error) (any, error) {
				return wrapperspb.Bytes(make([]byte, 100)), decode(&wrapperspb.BytesValue{})
			}),
			method("Hold", func(decode func(any) error) (any, error) {
				view := &compactordv1.GetLLMViewResponse{}
				err := decode(view)
				held.Store(view)
				return &emptypb.Empty{}, err
			}),
			method("View", func(decode func(any) error) (any, error) { return held.Load(), decode(&emptypb.Empty{}) }),
		},
	}, nil)
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		server.Stop()
	}()
	if _, err := fmt.Fprintln(os.Stdout, listener.Addr()); err != nil {
		return err
	}
	return server.Serve(listener)
}
