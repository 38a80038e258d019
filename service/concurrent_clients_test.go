package service_test

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/sessionlog"
)

// 64 agents at once, each with its own session, append, compact when the report says so, and read views by deltas.
func TestManyClientsAtOnce(t *testing.T) {
	t.Parallel()
	clients := 64
	if testing.Short() {
		clients = 16
	}
	d := start(t)
	var group sync.WaitGroup
	for i := range clients {
		group.Go(func() {
			if err := (&agent{daemon: d, session: fmt.Sprintf("agent-%d", i)}).run(); err != nil {
				t.Errorf("agent %d: %v", i, err)
			}
		})
	}
	group.Wait()
	problems, err := sessionlog.Check(t.Context(), d.store, "")
	require.NoError(t, err)
	require.Empty(t, problems)
}

// agent is a client that updates its view by deltas.
type agent struct {
	*daemon
	session string
	held    []*compactordv1.ViewMessage
	token   string
}

func (a *agent) run() error {
	ctx := a.t.Context()
	_, err := a.sessions.CreateSession(ctx, &compactordv1.CreateSessionRequest{
		SessionId: a.session, Policy: small(2000),
	})
	if err != nil {
		return err
	}
	compacted := 0
	messages := working(12, 12000)
	for i, m := range messages {
		answer, err := a.sessions.AppendMessages(ctx, &compactordv1.AppendMessagesRequest{
			SessionId: a.session, Messages: []*compactordv1.Message{m}, ViewToken: a.token,
		})
		if err != nil {
			return err
		}
		if err := a.refresh(); err != nil {
			return err
		}
		if answer.GetReport().GetShouldCompact() {
			if err := a.compactNow(); err != nil {
				return err
			}
			compacted++
		}
		if i == len(messages)-1 && compacted == 0 {
			return errors.New("no compaction was ever due")
		}
	}
	return a.refresh()
}

func (a *agent) refresh() error {
	answer, err := a.compactions.GetLLMView(a.t.Context(), &compactordv1.GetLLMViewRequest{
		Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: a.session}, ViewToken: a.token,
	})
	if err != nil {
		return err
	}
	if int(answer.GetUnchangedPrefix()) > len(a.held) {
		return fmt.Errorf("%d messages unchanged of %d", answer.GetUnchangedPrefix(), len(a.held))
	}
	a.held = append(a.held[:answer.GetUnchangedPrefix()], answer.GetMessages()...)
	a.token = answer.GetViewToken()
	return nil
}

func (a *agent) compactNow() error {
	req := compactRequest(a.session, nil)
	req.Reason = compactordv1.CompactionReason_COMPACTION_REASON_THRESHOLD
	stream, err := a.compactions.Compact(a.t.Context(), req)
	if err != nil {
		return err
	}
	for {
		if _, err := stream.Recv(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}
