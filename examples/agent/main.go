// Command agent is a complete agent on top of compactord. It uses only the stubs generated from the contract.
//
// The model is simulated by a small function that reads the view, calls a tool three times and then answers. Everything
// else is what a real agent does in each turn: it appends the user's message, compacts if the report says so, fetches
// the new part of the view, calls the model, and appends the model's answer and the results of its tools. If the model
// refuses the view as too long, the agent compacts and calls it once more.
//
//	go run ./cmd/compactord serve          # in one terminal
//	go run ./examples/agent                # in another
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// retries makes gRPC repeat a call that found no daemon. The request ids make that safe.
const retries = `{"methodConfig": [{"name": [{}], "retryPolicy": {"maxAttempts": 4, "initialBackoff": "0.1s",
	"maxBackoff": "2s", "backoffMultiplier": 3, "retryableStatusCodes": ["UNAVAILABLE"]}}]}`

func main() {
	addr := flag.String("addr", "127.0.0.1:7440", "the daemon's `address`, host:port or unix:/path")
	turns := flag.Int("turns", 12, "how many turns the simulated user takes")
	window := flag.Uint("window", 32_000, "the simulated model's context window in `tokens`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := explained(run(ctx, os.Stdout, *addr, *turns, uint32(*window)), *addr); err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(1)
	}
}

// explained says what to do where no daemon has answered. An error of a daemon has details.
func explained(err error, addr string) error {
	if status.Code(err) != codes.Unavailable || len(status.Convert(err).Details()) > 0 {
		return err
	}
	return fmt.Errorf("no daemon answers at %s; this starts one: go run ./cmd/compactord serve --listen %s\n%w", addr, addr, err)
}

func run(ctx context.Context, out io.Writer, addr string, turns int, window uint32) error {
	token, err := ownToken(addr)
	if err != nil {
		return err
	}
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithPerRPCCredentials(token), grpc.WithDefaultServiceConfig(retries))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	a := &agent{
		sessions:    compactordv1.NewSessionServiceClient(conn),
		compactions: compactordv1.NewCompactionServiceClient(conn),
		out:         out,
		window:      window,
	}
	// An id of our own, since a request id needs one: a repeated request must not make a second session.
	created, err := a.sessions.CreateSession(ctx, &compactordv1.CreateSessionRequest{
		SessionId: "agent-" + rand.Text(),
		RequestId: "create",
		Title:     "examples/agent",
		Policy:    &compactordv1.Policy{ContextWindow: &window},
	})
	if err != nil {
		return err
	}
	a.session = created.GetSession().GetSessionId()
	fmt.Fprintf(out, "session %s\n", a.session)
	if err := a.append(ctx, text(compactordv1.Role_ROLE_SYSTEM, systemPrompt)); err != nil {
		return err
	}
	for turn := range turns {
		if err := a.turn(ctx, request(turn)); err != nil {
			return fmt.Errorf("turn %d: %w", turn+1, err)
		}
		fmt.Fprintf(out, "turn %2d: %2d messages in the view, %5d of %d tokens\n",
			turn+1, len(a.view), a.report.GetTokens(), window)
	}
	return nil
}

// agent is the state that a client keeps of one conversation.
type agent struct {
	sessions    compactordv1.SessionServiceClient
	compactions compactordv1.CompactionServiceClient
	out         io.Writer
	window      uint32 // the model's

	session string
	next    uint32                      // the index that the next message will get
	view    []*compactordv1.ViewMessage // the view
	token   string                      // the view token
	report  *compactordv1.ContextReport // how full the context is
}

// turn runs one turn, from the user's message to the model's final answer.
func (a *agent) turn(ctx context.Context, user string) error {
	if err := a.append(ctx, text(compactordv1.Role_ROLE_USER, user)); err != nil {
		return err
	}
	for {
		if a.report.GetShouldCompact() {
			if err := a.compact(ctx, compactordv1.CompactionReason_COMPACTION_REASON_THRESHOLD); err != nil {
				return err
			}
		}
		said, err := a.ask(ctx)
		if err != nil {
			return err
		}
		messages := append([]*compactordv1.Message{said}, runTools(said)...)
		if err := a.append(ctx, messages...); err != nil {
			return err
		}
		if len(messages) == 1 {
			return nil
		}
	}
}

// ask calls the model with the present view. If the view is too long, it compacts and calls the model once more.
func (a *agent) ask(ctx context.Context) (*compactordv1.Message, error) {
	if err := a.refresh(ctx); err != nil {
		return nil, err
	}
	said, refusal := think(a.view, a.window)
	if refusal == nil {
		return said, nil
	}
	verdict, err := a.compactions.ClassifyError(ctx, &compactordv1.ClassifyErrorRequest{
		ErrorText: refusal.Error(), SessionId: a.session,
	})
	if err != nil {
		return nil, err
	}
	if !verdict.GetOverflow() {
		return nil, refusal
	}
	fmt.Fprintf(a.out, "  the model refused: %s\n", verdict.GetWhy())
	if err := a.compact(ctx, compactordv1.CompactionReason_COMPACTION_REASON_OVERFLOW); err != nil {
		return nil, err
	}
	if err := a.refresh(ctx); err != nil {
		return nil, err
	}
	return think(a.view, a.window)
}

// append adds messages to the log. With the expected index, the daemon refuses them if another client appended first.
// With the request id, it ignores a second copy of the request. The view token says which view the model's answer
// belongs to.
func (a *agent) append(ctx context.Context, messages ...*compactordv1.Message) error {
	answer, err := a.sessions.AppendMessages(ctx, &compactordv1.AppendMessagesRequest{
		SessionId:         a.session,
		Messages:          messages,
		ExpectedNextIndex: &a.next,
		RequestId:         fmt.Sprintf("append-%d", a.next),
		ViewToken:         a.token,
	})
	if err != nil {
		return err
	}
	a.next, a.report = answer.GetNextIndex(), answer.GetReport()
	return nil
}

// compact runs a compaction and prints its progress. Cancelling ctx cancels the compaction, and nothing changes.
func (a *agent) compact(ctx context.Context, reason compactordv1.CompactionReason) error {
	stream, err := a.compactions.Compact(ctx, &compactordv1.CompactRequest{
		Target:    &compactordv1.CompactRequest_SessionId{SessionId: a.session},
		Reason:    reason,
		WillRetry: reason == compactordv1.CompactionReason_COMPACTION_REASON_OVERFLOW,
		RequestId: fmt.Sprintf("compact-%d-%d", reason, a.next),
	})
	if err != nil {
		return err
	}
	var percent uint64
	for {
		answer, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch e := answer.GetEvent().GetEvent().(type) {
		case *compactordv1.CompactionEvent_Progress:
			p := e.Progress
			if p.GetStage() != compactordv1.CompactionStage_COMPACTION_STAGE_SUMMARIZE {
				continue // the other stages take no time
			}
			if now := uint64(p.GetDone()) * 100 / uint64(max(p.GetTotal(), 1)); now >= percent+25 {
				percent = now
				fmt.Fprintf(a.out, "  summarizing: %3d %%, %d of %d tokens\n", percent, p.GetDone(), p.GetTotal())
			}
		case *compactordv1.CompactionEvent_Completed:
			entry := e.Completed.GetCompaction()
			fmt.Fprintf(a.out, "  compacted from %d to %d tokens; messages from %d on are kept\n",
				entry.GetTokensBefore(), entry.GetTokensAfter(), entry.GetFirstKeptIndex())
		case *compactordv1.CompactionEvent_Skipped:
			fmt.Fprintf(a.out, "  not compacted: %s\n", e.Skipped.GetMessage())
		}
	}
}

// refresh updates the view. The daemon sends only what is new since the view of the token.
func (a *agent) refresh(ctx context.Context) error {
	for {
		answer, err := a.compactions.GetLLMView(ctx, &compactordv1.GetLLMViewRequest{
			Target:    &compactordv1.GetLLMViewRequest_SessionId{SessionId: a.session},
			ViewToken: a.token,
		})
		if err != nil {
			return err
		}
		a.view = append(a.view[:answer.GetUnchangedPrefix()], answer.GetMessages()...)
		a.token, a.report = answer.GetViewToken(), answer.GetReport()
		if !answer.GetHasMore() {
			return nil
		}
	}
}

func text(role compactordv1.Role, text string) *compactordv1.Message {
	return &compactordv1.Message{Role: role, Parts: []*compactordv1.Part{
		{Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: text}}},
	}}
}
