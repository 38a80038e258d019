package e2e_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	boltstore "github.com/compactord/compactord/storage/bolt"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive"
)

// These are the seed cases that only show where planning, summarizing and committing come together.

// recorder is a summarizer that takes down what it is asked, and fails where it is told to.
type recorder struct {
	*extractive.Summarizer
	requests []summarizers.Request
	fails    func(summarizers.Kind) bool
}

func (*recorder) Name() string { return "recorder" }

func (r *recorder) Summarize(
	ctx context.Context, req *summarizers.Request, progress summarizers.Progress,
) (*summarizers.Summary, error) {
	r.requests = append(r.requests, *req)
	if r.fails != nil && r.fails(req.Kind) {
		return nil, errors.New("out of reach")
	}
	return r.Summarizer.Summarize(ctx, req, progress)
}

// clients talks to a service in this process, with a summarizer of the test's.
type clients struct {
	t           *testing.T
	sessions    compactordv1.SessionServiceClient
	compactions compactordv1.CompactionServiceClient
}

func serveWith(t *testing.T, r *recorder) *clients {
	t.Helper()
	r.Summarizer = extractive.New()
	store, err := boltstore.Open(filepath.Join(t.TempDir(), "store.db"), boltstore.Options{})
	require.NoError(t, err)
	planners, err := strategies.NewRegistry(strategies.Builtin()...)
	require.NoError(t, err)
	writers, err := summarizers.NewRegistry(extractive.New(), r)
	require.NoError(t, err)
	server, err := service.NewServer(service.ServerOptions{Options: service.Options{
		Store: store, Strategies: planners, Summarizers: writers, Logger: slog.New(slog.DiscardHandler),
	}})
	require.NoError(t, err)
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { done <- server.Run(t.Context(), listener) }()
	t.Cleanup(func() {
		require.NoError(t, conn.Close())
		require.NoError(t, <-done)
		require.NoError(t, store.Close())
	})
	return &clients{
		t: t, sessions: compactordv1.NewSessionServiceClient(conn), compactions: compactordv1.NewCompactionServiceClient(conn),
	}
}

// create makes the session `s` with messages that have 500 words each, by turns of user and assistant.
func (c *clients) create(keep *compactordv1.SummarizeStrategy, summary *compactordv1.SummaryPolicy, messages int) {
	c.t.Helper()
	_, err := c.sessions.CreateSession(c.t.Context(), &compactordv1.CreateSessionRequest{
		SessionId: "s", Policy: &compactordv1.Policy{
			Strategy: &compactordv1.Strategy{Kind: &compactordv1.Strategy_Summarize{Summarize: keep}}, Summary: summary,
		},
	})
	require.NoError(c.t, err)
	c.append(messages)
}

func (c *clients) append(messages int) {
	c.t.Helper()
	req := &compactordv1.AppendMessagesRequest{SessionId: "s"}
	for i := range messages {
		role := compactordv1.Role_ROLE_USER
		if i%2 == 1 {
			role = compactordv1.Role_ROLE_ASSISTANT
		}
		req.Messages = append(req.Messages, &compactordv1.Message{Role: role, Parts: []*compactordv1.Part{
			{Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: strings.Repeat("some more words ", 170)}}},
		}})
	}
	_, err := c.sessions.AppendMessages(c.t.Context(), req)
	require.NoError(c.t, err)
}

// compact returns the entry that a compaction writes, or the error that it ends with.
func (c *clients) compact(focus string) (*compactordv1.CompactionEntry, error) {
	c.t.Helper()
	stream, err := c.compactions.Compact(c.t.Context(), &compactordv1.CompactRequest{
		Target: &compactordv1.CompactRequest_SessionId{SessionId: "s"}, Focus: focus,
	})
	require.NoError(c.t, err)
	var entry *compactordv1.CompactionEntry
	for {
		answer, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return entry, nil
		}
		if err != nil {
			return nil, err
		}
		if done := answer.GetEvent().GetCompleted(); done != nil {
			entry = done.GetCompaction()
		}
	}
}

// Seed case 55: a change of settings directly before a kept user message neither moves the cut nor makes it a split.
func TestCase055SettingsDoNotMoveTheCut(t *testing.T) {
	c := serveWith(t, &recorder{})
	c.create(&compactordv1.SummarizeStrategy{RecentTurns: proto.Uint32(1)}, nil, 2)
	_, err := c.sessions.UpdateSession(t.Context(), &compactordv1.UpdateSessionRequest{
		SessionId: "s", Title: "another",
		Policy: &compactordv1.Policy{Strategy: &compactordv1.Strategy{Kind: &compactordv1.Strategy_Summarize{
			Summarize: &compactordv1.SummarizeStrategy{RecentMessages: proto.Uint32(2)},
		}}},
		UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"policy", "title"}},
	})
	require.NoError(t, err)
	c.append(2)
	entry, err := c.compact("")
	require.NoError(t, err)
	require.EqualValues(t, 2, entry.GetFirstKeptIndex())
	require.Nil(t, entry.SplitTurnStart)
}

// Seed case 79: a split turn has two summaries, and where the second fails, nothing of the first is written.
func TestCase079BothSummariesOrNone(t *testing.T) {
	r := &recorder{fails: func(k summarizers.Kind) bool { return k == summarizers.TurnPrefix }}
	c := serveWith(t, r)
	c.create(&compactordv1.SummarizeStrategy{RecentMessages: proto.Uint32(1)}, &compactordv1.SummaryPolicy{
		Summarizer: proto.String("recorder"), Fallback: compactordv1.SummaryFallback_SUMMARY_FALLBACK_FAIL.Enum(),
	}, 4)
	_, err := c.compact("")
	require.Equal(t, codes.Unavailable, status.Code(err))
	require.Len(t, r.requests, 2)
	require.Equal(t, summarizers.History, r.requests[0].Kind)
	require.Equal(t, summarizers.TurnPrefix, r.requests[1].Kind)

	listed, err := c.compactions.ListCompactions(t.Context(), &compactordv1.ListCompactionsRequest{SessionId: "s"})
	require.NoError(t, err)
	require.Empty(t, listed.GetCompactions())
	view, err := c.compactions.GetLLMView(t.Context(), &compactordv1.GetLLMViewRequest{
		Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: "s"},
	})
	require.NoError(t, err)
	require.Len(t, view.GetMessages(), 4)
}

// Seed case 82: what the summary is to attend to is told to who writes either of the two.
func TestCase082FocusIsForBothSummaries(t *testing.T) {
	r := &recorder{}
	c := serveWith(t, r)
	c.create(&compactordv1.SummarizeStrategy{RecentMessages: proto.Uint32(1)}, &compactordv1.SummaryPolicy{
		Summarizer: proto.String("recorder"),
	}, 4)
	entry, err := c.compact("the database")
	require.NoError(t, err)
	require.Equal(t, "the database", entry.GetFocus())
	require.Len(t, r.requests, 2)
	for _, req := range r.requests {
		require.Equal(t, "the database", req.Focus)
	}
}
