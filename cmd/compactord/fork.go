package main

import (
	"context"
	"fmt"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// forkCommand is `compactord fork`.
type forkCommand struct {
	onSession
	aim
	As    string            `help:"The new session's id (default: a new one)." placeholder:"ID"`
	Title string            `help:"The new session's title (default: the same)." placeholder:"TEXT"`
	Label map[string]string `help:"A label of the new session (default: the same); may be given again." placeholder:"KEY=VALUE"`
}

// Help is printed below the flags.
func (c *forkCommand) Help() string {
	return `The new session holds the log up to a point, the end unless told otherwise: the same messages, numbers and views. What is
done to one does not touch the other.`
}

// Run forks a session.
func (c *forkCommand) Run(ctx context.Context, a *app) error {
	request := &compactordv1.ForkSessionRequest{
		SessionId: c.Session, NewSessionId: c.As, Title: c.Title, Labels: c.Label,
	}
	switch {
	case c.ToCheckpoint != nil && c.ToPoint != nil:
		return usagef("give either --to-checkpoint or --to-point")
	case c.ToCheckpoint != nil:
		request.At = &compactordv1.ForkSessionRequest_CheckpointId{CheckpointId: *c.ToCheckpoint}
	case c.ToPoint != nil:
		request.At = &compactordv1.ForkSessionRequest_Point{Point: *c.ToPoint}
	}
	return c.with(ctx, a, func(client *client) error {
		answer, err := client.sessions.ForkSession(ctx, request)
		if err != nil {
			return refusedFlags(err)
		}
		if c.JSON {
			return printJSON(a.out, wholeAnswer(answer))
		}
		s := answer.GetSession()
		fmt.Fprintf(a.out, "Forked session %s at point %d into session %s: %s, %s in the context.\n", c.Session,
			s.GetForkedFrom().GetPoint(), s.GetSessionId(), count(s.GetNextIndex(), "message"),
			contextText(answer.GetReport()))
		return nil
	})
}
