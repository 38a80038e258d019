package sessions

import (
	"context"
	"fmt"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/conversation"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Fork is `compactord fork`.
type Fork struct {
	onSession
	aim
	As    string            `help:"The new session's id (default: a new one)." placeholder:"ID"`
	Title string            `help:"The new session's title (default: the same)." placeholder:"TEXT"`
	Label map[string]string `help:"A label of the new session (default: the same ones); may be given again." placeholder:"KEY=VALUE"`
}

// forkAt sets where a fork begins.
func (a aim) forkAt(request *compactordv1.ForkSessionRequest) error {
	switch {
	case a.ToCheckpoint != nil && a.ToPoint != nil:
		return terminal.Usagef("give either --to-checkpoint or --to-point")
	case a.ToCheckpoint != nil:
		request.At = &compactordv1.ForkSessionRequest_CheckpointId{CheckpointId: *a.ToCheckpoint}
	case a.ToPoint != nil:
		request.At = &compactordv1.ForkSessionRequest_Point{Point: *a.ToPoint}
	}
	return nil
}

// Help is printed below the flags.
func (c *Fork) Help() string {
	return `The new session holds a copy of the log up to a point, by default its end. Messages, their numbers and views are the same.
Later changes of one session do not affect the other.`
}

// Run forks a session.
func (c *Fork) Run(ctx context.Context, a *api.App) error {
	request := &compactordv1.ForkSessionRequest{
		SessionId: c.Session, NewSessionId: c.As, Title: c.Title, Labels: c.Label,
	}
	if err := c.forkAt(request); err != nil {
		return err
	}
	return c.with(ctx, a, func(client *api.Client) error {
		answer, err := client.Sessions.ForkSession(ctx, request)
		if err != nil {
			return api.RefusedFlags(err)
		}
		if c.JSON {
			return terminal.PrintJSON(a.Out, terminal.WholeAnswer(answer))
		}
		s := answer.GetSession()
		fmt.Fprintf(a.Out, "Forked session %s at point %d into session %s: %s, %s in the context.\n", c.Session,
			s.GetForkedFrom().GetPoint(), s.GetSessionId(), terminal.Count(s.GetNextIndex(), "message"),
			contextText(answer.GetReport()))
		conversation.PrintWarnings(a.Out, answer.GetWarnings())
		conversation.PrintBlocked(a, s.GetSessionId(), answer.GetReport())
		return nil
	})
}
