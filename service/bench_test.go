package service_test

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	bolt "go.etcd.io/bbolt"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/strategies"
)

// Each benchmark has its baseline next to it, so that figures of one run can be compared on any machine.

// echo returns a client call to a plain gRPC server that always sends the same response.
func echo(b *testing.B, fixed proto.Message) func(payload []byte) {
	b.Helper()
	server := grpc.NewServer(grpc.MaxRecvMsgSize(64<<20), grpc.MaxSendMsgSize(64<<20))
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: "echo.Echo", HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{
			MethodName: "Echo",
			Handler: func(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
				return fixed, decode(&wrapperspb.BytesValue{})
			},
		}},
	}, nil)
	listener, err := (&net.ListenConfig{}).Listen(b.Context(), "tcp", "127.0.0.1:0")
	require.NoError(b, err)
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(64<<20)))
	require.NoError(b, err)
	b.Cleanup(func() {
		_ = conn.Close()
		server.Stop()
		if err := <-done; err != nil {
			b.Error(err)
		}
	})
	return func(payload []byte) {
		if err := conn.Invoke(b.Context(), "/echo.Echo/Echo", wrapperspb.Bytes(payload), fixed.ProtoReflect().New().Interface()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAppend2kB is a durable append of 2 kB by one client. Target: 1.5 times the sum of the two baselines.
func BenchmarkAppend2kB(b *testing.B) {
	const size = 2000
	b.Run("baseline=echo", func(b *testing.B) {
		call, payload := echo(b, wrapperspb.Bytes(make([]byte, 100))), make([]byte, size)
		b.ReportAllocs()
		for b.Loop() {
			call(payload)
		}
	})
	b.Run("baseline=bbolt", func(b *testing.B) {
		db, err := bolt.Open(filepath.Join(b.TempDir(), "bare.db"), 0o600, nil)
		require.NoError(b, err)
		b.Cleanup(func() { _ = db.Close() })
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			require.NoError(b, db.Update(func(tx *bolt.Tx) error {
				bucket, err := tx.CreateBucketIfNotExists([]byte("b"))
				if err != nil {
					return err
				}
				return bucket.Put(fmt.Appendf(nil, "%016d", i), make([]byte, size))
			}))
		}
	})
	b.Run("compactord", func(b *testing.B) {
		d := start(b)
		d.create("s", nil)
		m := user(strings.Repeat("x", size))
		b.ReportAllocs()
		for b.Loop() {
			d.append("s", m)
		}
	})
}

// BenchmarkAppendTurn is a durable append of a finished turn with a result of 2 kB, by each kind of policy on append.
// The session is cleared every 50 turns, since on_user_message reads the view.
func BenchmarkAppendTurn(b *testing.B) {
	const size, turns = 2000, 50
	for _, each := range []struct {
		name   string
		policy *compactordv1.Policy
	}{
		{"without", nil},
		{"on_append", offloading(100)},
		{"on_user_message", hiding()},
	} {
		b.Run(each.name, func(b *testing.B) {
			d := start(b)
			d.create("s", each.policy)
			turn := reads("a", size)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				d.append("s", turn...)
				if i%turns == turns-1 {
					b.StopTimer()
					_, err := d.sessions.ClearSession(b.Context(), &compactordv1.ClearSessionRequest{SessionId: "s"})
					require.NoError(b, err)
					b.StartTimer()
				}
			}
		})
	}
}

// BenchmarkView800kB is a full view of 800 kB. Target: 3 times the echo of it.
func BenchmarkView800kB(b *testing.B) {
	const messages, size = 400, 2000
	d := start(b)
	d.create("s", nil)
	for range messages / 2 {
		d.append("s", user(strings.Repeat("x", size)), assistant(strings.Repeat("y", size)))
	}
	view, err := d.compactions.GetLLMView(b.Context(), viewRequest())
	require.NoError(b, err)
	b.Run("baseline=echo", func(b *testing.B) {
		call := echo(b, view)
		b.SetBytes(messages * size)
		b.ReportAllocs()
		for b.Loop() {
			call(nil)
		}
	})
	b.Run("compactord", func(b *testing.B) {
		b.SetBytes(messages * size)
		b.ReportAllocs()
		for b.Loop() {
			viewOnce(b, d)
		}
	})
}

func viewRequest() *compactordv1.GetLLMViewRequest {
	return &compactordv1.GetLLMViewRequest{Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: "s"}}
}

func viewOnce(b *testing.B, d *daemon) {
	b.Helper()
	answer, err := d.compactions.GetLLMView(b.Context(), viewRequest())
	if err != nil || answer.GetHasMore() {
		b.Fatal(err)
	}
}

// afterCut returns a daemon with a session of `covered` covered messages and 50 kept ones.
func afterCut(b *testing.B, covered int) *daemon {
	b.Helper()
	d := start(b)
	d.create("s", nil)
	batch := make([]*compactordv1.Message, 0, 1000)
	for i := range covered + 50 {
		m := user(fmt.Sprintf("request %d %s", i, strings.Repeat("x", 100)))
		if i%2 == 1 {
			m = assistant(fmt.Sprintf("answer %d %s", i, strings.Repeat("y", 100)))
		}
		if batch = append(batch, m); len(batch) == cap(batch) {
			d.append("s", batch...)
			batch = batch[:0]
		}
	}
	if len(batch) > 0 {
		d.append("s", batch...)
	}
	events, err := d.compact(compactRequest("s", &compactordv1.Policy{
		Strategy: &compactordv1.Strategy{Kind: &compactordv1.Strategy_Summarize{
			Summarize: &compactordv1.SummarizeStrategy{RecentMessages: proto.Uint32(50)},
		}},
	}))
	require.NoError(b, err)
	require.Equal(b, uint32(covered), last(b, events).GetCompleted().GetCompaction().GetFirstKeptIndex())
	return d
}

// BenchmarkAfterCut compares logs with 1,000 and 100,000 covered messages. Target: within 1.2 times.
func BenchmarkAfterCut(b *testing.B) {
	for _, covered := range []int{1000, 100_000} {
		d := afterCut(b, covered)
		b.Run(fmt.Sprintf("view/covered=%d", covered), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				viewOnce(b, d)
			}
		})
		b.Run(fmt.Sprintf("append/covered=%d", covered), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				d.append("s", user("more"))
			}
		})
		d.stop()
	}
}

// BenchmarkPlan is a plan on the longest recorded conversation. Target: 2 ms.
func BenchmarkPlan(b *testing.B) {
	var longest []*compactordv1.Message
	size := 0
	for _, path := range corpusFiles(b) {
		messages := readTranscript(b, path)
		bytes := 0
		for _, m := range messages {
			bytes += proto.Size(m)
		}
		if bytes > size {
			longest, size = messages, bytes
		}
	}
	d := start(b)
	d.create("s", nil)
	for len(longest) > 0 {
		n := min(200, len(longest))
		d.append("s", longest[:n]...)
		longest = longest[n:]
	}
	row, err := d.store.Session(b.Context(), "", "s")
	require.NoError(b, err)
	state, err := sessionlog.New(sessionlog.Options{Store: d.store}).State(b.Context(), row, row.GetHead())
	require.NoError(b, err)
	registry, err := strategies.NewRegistry(strategies.Builtin()...)
	require.NoError(b, err)
	for name, strategy := range map[string]*compactordv1.Strategy{
		"summarize":          row.GetResolvedPolicy().GetStrategy(),
		"prune_tool_outputs": row.GetResolvedPolicy().GetPruneStrategy(),
	} {
		b.Run(name, func(b *testing.B) {
			in := &strategies.Input{State: state, Policy: row.GetResolvedPolicy()}
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := registry.Plan(b.Context(), in, strategy); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("draw", func(b *testing.B) {
		for b.Loop() {
			state.View(session.ViewOptions{})
		}
	})
}
