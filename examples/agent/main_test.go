package main

import (
	"bytes"
	"context"
	"errors"
	"go/parser"
	"go/token"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	boltstore "github.com/compactord/compactord/storage/bolt"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAgent(t *testing.T) {
	const turns, window = 12, 32_000
	addr := startDaemon(t)
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), &out, addr, turns, window))
	t.Log("\n" + out.String())

	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close()) }()
	sessions := compactordv1.NewSessionServiceClient(conn)
	compactions := compactordv1.NewCompactionServiceClient(conn)
	id := strings.Fields(out.String())[1]

	entries := compactionsOf(t, sessions, id)
	require.GreaterOrEqual(t, len(entries), 2)
	for _, entry := range entries {
		require.Equal(t, compactordv1.CompactionReason_COMPACTION_REASON_THRESHOLD, entry.GetProvenance().GetReason())
		require.Less(t, entry.GetTokensAfter(), entry.GetTokensBefore())
	}
	require.Equal(t, len(entries), strings.Count(out.String(), "  compacted from "))

	// The log has the system prompt and, for each turn, a request, a call and a result for each file, and an answer.
	got, err := sessions.GetSession(t.Context(), &compactordv1.GetSessionRequest{SessionId: id})
	require.NoError(t, err)
	require.EqualValues(t, 1+turns*(2+2*callsPerTurn), got.GetSession().GetNextIndex())
	require.Less(t, got.GetReport().GetTokens(), uint32(window))
	require.Empty(t, got.GetReport().GetOpenCalls())

	// The view is short, and still has the user's demand of the first turn.
	view, err := compactions.GetLLMView(t.Context(), &compactordv1.GetLLMViewRequest{
		Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: id},
	})
	require.NoError(t, err)
	require.Equal(t, systemPrompt, view.GetMessages()[0].GetMessage().GetParts()[0].GetText().GetText())
	summary := view.GetMessages()[1]
	require.Equal(t, entries[0].GetId(), summary.GetSummaryOf())
	require.Contains(t, summary.GetMessage().GetParts()[0].GetText().GetText(), "Never change anything under db/migrations.")
}

// Without a daemon, the agent says where it looked for one, and how to start it. What a daemon says stays as it is.
func TestWithoutADaemon(t *testing.T) {
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	addr := listener.Addr().String()
	require.NoError(t, listener.Close())
	err = run(t.Context(), io.Discard, addr, 1, 32_000)
	require.ErrorContains(t, explained(err, addr), "no daemon answers at "+addr+"; this starts one: go run ./cmd/compactord serve --listen "+addr)

	err = run(t.Context(), io.Discard, startDaemon(t), 1, 1)
	require.Error(t, err)
	require.Equal(t, err, explained(err, addr))
	require.NoError(t, explained(nil, addr))
}

// losing is a daemon whose answer to the first CreateSession is lost on the way.
type losing struct {
	compactordv1.UnimplementedSessionServiceServer
	daemon compactordv1.SessionServiceClient
	calls  int
}

func (l *losing) CreateSession(ctx context.Context, req *compactordv1.CreateSessionRequest) (*compactordv1.CreateSessionResponse, error) {
	answer, err := l.daemon.CreateSession(ctx, req)
	if l.calls++; err == nil && l.calls == 1 {
		return nil, status.Error(codes.Unavailable, "the connection was lost")
	}
	return answer, err
}

// A repeated request makes no second session.
func TestALostAnswer(t *testing.T) {
	conn, err := grpc.NewClient(startDaemon(t), grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close()) }()
	l := &losing{daemon: compactordv1.NewSessionServiceClient(conn)}
	server := grpc.NewServer()
	compactordv1.RegisterSessionServiceServer(server, l)
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	err = run(t.Context(), io.Discard, listener.Addr().String(), 1, 32_000)
	require.Equal(t, codes.Unimplemented, status.Code(err), "of the append: %v", err)
	server.Stop()
	require.NoError(t, <-ended)
	require.Equal(t, 2, l.calls)
	list, err := l.daemon.ListSessions(t.Context(), &compactordv1.ListSessionsRequest{})
	require.NoError(t, err)
	require.Len(t, list.GetSessions(), 1)
}

// TestDeltas runs an agent that only fetches deltas, and compares its view with the whole one after each turn.
func TestDeltas(t *testing.T) {
	conn, err := grpc.NewClient(startDaemon(t), grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close()) }()
	a := &agent{
		sessions:    compactordv1.NewSessionServiceClient(conn),
		compactions: compactordv1.NewCompactionServiceClient(conn),
		out:         io.Discard,
		window:      32_000,
	}
	created, err := a.sessions.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{
		Policy: &compactordv1.Policy{ContextWindow: proto.Uint32(32_000)},
	})
	require.NoError(t, err)
	a.session = created.GetSession().GetSessionId()
	require.NoError(t, a.append(t.Context(), text(compactordv1.Role_ROLE_SYSTEM, systemPrompt)))
	for turn := range 8 {
		require.NoError(t, a.turn(t.Context(), request(turn)))
		require.NoError(t, a.refresh(t.Context()))
		whole, err := a.compactions.GetLLMView(t.Context(), &compactordv1.GetLLMViewRequest{
			Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: a.session},
		})
		require.NoError(t, err)
		require.Len(t, a.view, len(whole.GetMessages()))
		for i, m := range whole.GetMessages() {
			require.True(t, proto.Equal(m, a.view[i]), "turn %d, message %d of the view", turn, i)
		}
	}
}

// TestOverflow runs an agent that compacts only when the model refuses.
func TestOverflow(t *testing.T) {
	const window = 16_000
	conn, err := grpc.NewClient(startDaemon(t), grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close()) }()
	var out bytes.Buffer
	a := &agent{
		sessions:    compactordv1.NewSessionServiceClient(conn),
		compactions: compactordv1.NewCompactionServiceClient(conn),
		out:         &out,
		window:      window,
	}
	created, err := a.sessions.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{
		Policy: &compactordv1.Policy{
			ContextWindow: proto.Uint32(window), Trigger: &compactordv1.Trigger{Enabled: proto.Bool(false)},
		},
	})
	require.NoError(t, err)
	a.session = created.GetSession().GetSessionId()
	require.NoError(t, a.append(t.Context(), text(compactordv1.Role_ROLE_SYSTEM, systemPrompt)))
	for turn := range 8 {
		require.NoError(t, a.turn(t.Context(), request(turn)))
	}
	entries := compactionsOf(t, a.sessions, a.session)
	require.NotEmpty(t, entries)
	for _, entry := range entries {
		require.Equal(t, compactordv1.CompactionReason_COMPACTION_REASON_OVERFLOW, entry.GetProvenance().GetReason())
	}
	require.Equal(t, len(entries), strings.Count(out.String(), "  the model refused: "))
}

// compactionsOf returns the compactions of a session, newest first.
func compactionsOf(
	t *testing.T, sessions compactordv1.SessionServiceClient, id string,
) []*compactordv1.CompactionEntry {
	t.Helper()
	listed, err := sessions.ListRecords(t.Context(), &compactordv1.ListRecordsRequest{
		SessionId: id, NewestFirst: true,
		Kinds: []compactordv1.RecordKind{compactordv1.RecordKind_RECORD_KIND_COMPACTION},
	})
	require.NoError(t, err)
	require.Empty(t, listed.GetNextPageToken())
	var entries []*compactordv1.CompactionEntry
	for _, r := range listed.GetRecords() {
		entries = append(entries, r.GetCompaction())
	}
	return entries
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the user has had enough"))
	require.Error(t, run(ctx, io.Discard, startDaemon(t), 1, 32_000))
}

// TestStubsOnly requires that the program uses only the generated stubs, as its first sentence promises.
func TestStubsOnly(t *testing.T) {
	for _, name := range []string{"main.go", "model.go", "token.go"} {
		parsed, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		require.NoError(t, err)
		for _, imported := range parsed.Imports {
			path := strings.Trim(imported.Path.Value, `"`)
			if strings.HasPrefix(path, "github.com/compactord/compactord/") {
				require.Equal(t, "github.com/compactord/compactord/proto/compactord/v1", path)
			}
		}
	}
}

// startDaemon serves on a free port until the test ends.
func startDaemon(t *testing.T) string {
	t.Helper()
	store, err := boltstore.Open(filepath.Join(t.TempDir(), "store.db"), boltstore.Options{})
	require.NoError(t, err)
	planners, err := strategies.NewRegistry(strategies.Builtin()...)
	require.NoError(t, err)
	writers, err := summarizers.NewRegistry(extractive.New())
	require.NoError(t, err)
	server, err := service.NewServer(service.ServerOptions{Options: service.Options{
		Store: store, Strategies: planners, Summarizers: writers, Logger: slog.New(slog.DiscardHandler),
	}})
	require.NoError(t, err)
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { done <- server.Run(t.Context(), listener) }() // that context ends before the cleanups run
	t.Cleanup(func() {
		require.NoError(t, <-done)
		require.NoError(t, store.Close())
	})
	return listener.Addr().String()
}

// The agent sent its token to any address, where others on the way could read it.
func TestTheTokenStaysOnThisMachine(t *testing.T) {
	for _, addr := range []string{"agents.example:7440", "10.0.0.1:7440", ":7440"} {
		require.ErrorIs(t, run(t.Context(), io.Discard, addr, 1, 8000), errPlaintext, addr)
	}
	for _, addr := range []string{"127.0.0.1:7440", "[::1]:7440", "localhost:7440", "unix:/run/daemon.sock"} {
		_, err := ownToken(addr)
		require.NoError(t, err, addr)
	}
}
