package requests_test

import (
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/requests"
)

// BenchmarkReceive compares a Receiver with gRPC's own receiving: the CPU time of a call over TCP, with its client. It
// alternates between the two. The contract's rules are evaluated for both.
func BenchmarkReceive(b *testing.B) {
	for _, each := range []struct {
		name string
		size int
	}{{"2kB", 2000}, {"16MiB", 16 << 20}} {
		b.Run(each.name, func(b *testing.B) {
			budget, err := requests.NewBudget(1<<30, prometheus.NewRegistry())
			require.NoError(b, err)
			receiver := &requests.Receiver{MaxBytes: 64 << 20, Budget: budget}
			ours := benchServer(b, func(g *grpc.Server) grpc.ServiceRegistrar { return requests.Registrar{Server: g} },
				grpc.InTapHandle(requests.Tap), grpc.StaticStreamWindowSize(64<<10), grpc.StaticConnWindowSize(16<<20), grpc.NumStreamWorkers(8),
				grpc.ChainUnaryInterceptor(receiver.Unary, requests.CheckUnary))
			theirs := benchServer(b, func(g *grpc.Server) grpc.ServiceRegistrar { return g },
				grpc.StaticConnWindowSize(16<<20), grpc.NumStreamWorkers(8), grpc.MaxRecvMsgSize(64<<20),
				grpc.ChainUnaryInterceptor(requests.CheckUnary))
			request := &compactordv1.AppendMessagesRequest{SessionId: "s", Messages: []*compactordv1.Message{{
				Role: compactordv1.Role_ROLE_USER,
				Parts: []*compactordv1.Part{{
					Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: strings.Repeat("x", each.size)}},
				}},
			}}}
			var took [2]time.Duration
			rounds := 1 + (1<<18)/each.size
			n := 0
			for ; b.Loop(); n++ {
				for i, client := range []compactordv1.SessionServiceClient{ours, theirs} {
					before := cpuTime(b)
					for range rounds {
						if _, err := client.AppendMessages(b.Context(), request); err != nil {
							b.Fatal(err)
						}
					}
					took[i] += cpuTime(b) - before
				}
			}
			calls := float64(n * rounds)
			b.ReportMetric(float64(took[0].Nanoseconds())/calls, "cpu-ns/call")
			b.ReportMetric(float64(took[1].Nanoseconds())/calls, "cpu-ns/grpc")
			b.ReportMetric(float64(took[0])/float64(took[1]), "call/grpc")
		})
	}
}

// benchServer starts a server, and returns a client on a connection of its own.
func benchServer(
	b *testing.B, registrar func(*grpc.Server) grpc.ServiceRegistrar, options ...grpc.ServerOption,
) compactordv1.SessionServiceClient {
	b.Helper()
	server := grpc.NewServer(options...)
	compactordv1.RegisterSessionServiceServer(registrar(server), sessions{})
	listener, err := (&net.ListenConfig{}).Listen(b.Context(), "tcp", "127.0.0.1:0")
	require.NoError(b, err)
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(b, err)
	b.Cleanup(func() {
		require.NoError(b, conn.Close())
		server.Stop()
		require.NoError(b, <-done)
	})
	return compactordv1.NewSessionServiceClient(conn)
}

// cpuTime returns the time that the process has run on all cores.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
