package service_test

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/postgres"
	"github.com/compactord/compactord/storage/postgres/postgrestest"
)

// onDatabase opens a new database as a store.
func onDatabase(b *testing.B) (s storage.Store, url string) {
	b.Helper()
	url = postgrestest.Shared(b).Database(b)
	s, err := postgres.Open(b.Context(), postgres.Options{URL: url})
	require.NoError(b, err)
	return s, url
}

// echo returns a call that sends bytes to a server, which sends them back.
func echo(b *testing.B) func(content []byte) {
	b.Helper()
	listener := bufconn.Listen(256 << 10)
	server := grpc.NewServer(grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
		content := &wrapperspb.BytesValue{}
		if err := stream.RecvMsg(content); err != nil {
			return err
		}
		return stream.SendMsg(content)
	}))
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	conn, err := grpc.NewClient("passthrough:///echo", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
	require.NoError(b, err)
	b.Cleanup(func() {
		require.NoError(b, conn.Close())
		server.Stop()
		require.NoError(b, <-ended)
	})
	return func(content []byte) {
		back := &wrapperspb.BytesValue{}
		require.NoError(b, conn.Invoke(b.Context(), "/echo/Echo", wrapperspb.Bytes(content), back))
		require.Len(b, back.GetValue(), len(content))
	}
}

// BenchmarkAppendOnDatabase appends messages of 2 kB by RPC, each beside an echo of 2 kB by RPC and a transaction of pgx
// alone that inserts as many bytes and updates one row. bare/op is how many times the time of both an append takes. Where
// compaction is due from the first messages on, and never done, each append also plans on a view that grows.
func BenchmarkAppendOnDatabase(b *testing.B) {
	due := small(1_000_000)
	calm := proto.CloneOf(due)
	calm.ContextWindow = proto.Uint32(100_000_000)
	for name, policy := range map[string]*compactordv1.Policy{"calm": calm, "due": due} {
		b.Run(name, func(b *testing.B) { appendOnDatabase(b, policy) })
	}
}

func appendOnDatabase(b *testing.B, policy *compactordv1.Policy) {
	b.Helper()
	s, url := onDatabase(b)
	d, echoed := start(b, withStore(s)), echo(b)
	conn, err := pgx.Connect(b.Context(), url)
	require.NoError(b, err)
	defer func() { require.NoError(b, conn.Close(b.Context())) }()
	_, err = conn.Exec(b.Context(), `
		CREATE TABLE bare_sessions (id bytea PRIMARY KEY, revision bigint NOT NULL, body bytea NOT NULL);
		CREATE TABLE bare_messages (ordinal bigint, number bigint, body bytea, PRIMARY KEY (ordinal, number));
		INSERT INTO bare_sessions VALUES ('s', 0, decode(repeat('00', 200), 'hex'))`)
	require.NoError(b, err)
	d.create("s", policy)
	noise := make([]byte, 1500)
	_, err = rand.Read(noise)
	require.NoError(b, err)
	text := base64.StdEncoding.EncodeToString(noise)
	body := []byte(text)
	var took, bare time.Duration
	for n := 0; b.Loop(); n++ {
		began := time.Now()
		d.append("s", user(text))
		took += time.Since(began)

		began = time.Now()
		echoed(body)
		batch := &pgx.Batch{}
		batch.Queue("UPDATE bare_sessions SET revision = revision + 1, body = $2 WHERE id = $1 AND revision = $3", []byte("s"), body[:200], n)
		batch.Queue("INSERT INTO bare_messages VALUES (1, $1, $2)", n, body)
		require.NoError(b, conn.SendBatch(b.Context(), batch).Close())
		bare += time.Since(began)
	}
	b.ReportMetric(float64(took)/float64(bare), "bare/op")
}

// BenchmarkViewOnDatabase reads a whole view of 800 kB, each beside the same one from a file. bbolt/op is how many times the
// time of that it takes.
func BenchmarkViewOnDatabase(b *testing.B) {
	s, _ := onDatabase(b)
	times := map[string]time.Duration{}
	daemons := map[string]*daemon{
		"database": start(b, withStore(s)), "file": start(b, withStore(openStore(b, filepath.Join(b.TempDir(), "store.db")))),
	}
	for _, d := range daemons {
		d.create("s", small(1_000_000))
		for size := 0; size < 800_000; {
			turn := working(4, 2000)
			for _, m := range turn {
				size += len(fmt.Sprint(m))
			}
			d.append("s", turn...)
		}
	}
	for b.Loop() {
		for kind, d := range daemons {
			began := time.Now()
			view := d.fullView(&compactordv1.GetLLMViewRequest{Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: "s"}})
			times[kind] += time.Since(began)
			require.NotEmpty(b, view)
		}
	}
	b.ReportMetric(float64(times["database"])/float64(times["file"]), "bbolt/op")
	b.ReportMetric(float64(times["database"].Microseconds())/float64(b.N), "µs/view")
}
