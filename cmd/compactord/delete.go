package main

import (
	"context"
	"fmt"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// deleteCommand is `compactord delete`.
type deleteCommand struct {
	onSession
	confirmFlags
}

// Help is printed below the flags.
func (c *deleteCommand) Help() string {
	return `The session and its whole log are removed for good: no undo brings them back. Forks of it stay. On a terminal it is asked
first; elsewhere --yes has to say that it is meant.`
}

// Run deletes a session.
func (c *deleteCommand) Run(ctx context.Context, a *app) error {
	return c.with(ctx, a, func(client *client) error {
		there, err := client.sessions.GetSession(ctx, &compactordv1.GetSessionRequest{SessionId: c.Session})
		if err != nil {
			return refusedFlags(err)
		}
		what := fmt.Sprintf("session %s with %s", c.Session, count(there.GetSession().GetNextIndex(), "message"))
		switch {
		case c.Yes:
		case a.asks:
			if err := a.confirm(ctx, "Delete "+what+" for good?"); err != nil {
				return err
			}
		default:
			return advise(usagef("nobody can be asked here whether to delete %s for good", what), "If that is meant: %s", again("--yes"))
		}
		answer, err := client.sessions.DeleteSession(ctx, &compactordv1.DeleteSessionRequest{SessionId: c.Session})
		if err != nil {
			return refusedFlags(err)
		}
		if c.JSON {
			return printJSON(a.out, wholeAnswer(answer))
		}
		fmt.Fprintf(a.out, "Deleted %s.\n", what)
		return nil
	})
}
