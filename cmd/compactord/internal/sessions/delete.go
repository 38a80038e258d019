package sessions

import (
	"context"
	"fmt"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Delete is `compactord delete`.
type Delete struct {
	onSession
	terminal.ConfirmFlags
	Children string `help:"What becomes of the session's children: keep, delete or refuse (then the session stays too)." enum:"keep,delete,refuse" default:"keep" placeholder:"WHAT"`
}

// Help is printed below the flags.
func (c *Delete) Help() string {
	return `The session and its whole log are deleted for ever: undo cannot bring them back. Its forks stay, and so do its
children, without a parent, unless --children says otherwise. On a terminal the command asks first. Elsewhere it requires
--yes.`
}

// Run deletes a session.
func (c *Delete) Run(ctx context.Context, a *api.App) error {
	return c.with(ctx, a, func(client *api.Client) error {
		found, err := client.Sessions.GetSession(ctx, &compactordv1.GetSessionRequest{SessionId: c.Session})
		if err != nil {
			return api.RefusedFlags(err)
		}
		what := fmt.Sprintf("session %s with %s", c.Session, terminal.Count(found.GetSession().GetNextIndex(), "message"))
		if c.Children == "delete" && found.GetSession().GetChildren() > 0 {
			what += fmt.Sprintf(", its children (%s) and all sessions below them", terminal.Number(found.GetSession().GetChildren()))
		}
		switch {
		case c.Yes:
		case a.Asks:
			if err := a.Confirm(ctx, "Delete "+what+" for ever?"); err != nil {
				return err
			}
		default:
			return terminal.Advise(terminal.Usagef("nobody can be asked here whether to delete %s for ever", what), "To delete it: %s", terminal.Again("--yes"))
		}
		answer, err := client.Sessions.DeleteSession(ctx, &compactordv1.DeleteSessionRequest{
			SessionId: c.Session, Children: compactordv1.ChildrenOnDelete(
				terminal.EnumNumber(compactordv1.ChildrenOnDelete_value, "CHILDREN_ON_DELETE_", c.Children)),
		})
		if err != nil {
			return api.RefusedFlags(err)
		}
		if c.JSON {
			return terminal.PrintJSON(a.Out, terminal.WholeAnswer(answer))
		}
		fmt.Fprintf(a.Out, "Deleted %s.\n", what)
		return nil
	})
}
