// Package sessions holds the commands that work on the sessions of a daemon or a store.
package sessions

import (
	"context"
	"errors"
	"fmt"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// onSession are the flags of a command that works on one session.
type onSession struct {
	Session string `help:"Session to work on." placeholder:"ID" required:""`
	api.Where
	JSON bool `help:"Print one JSON document: the answer as the API returns it." name:"json"`
	terminal.QuietFlag
}

// with opens the daemon or the store that the flags name, calls do, and closes it.
func (c *onSession) with(ctx context.Context, a *api.App, do func(*api.Client) error) (err error) {
	opened, err := c.Open(ctx, a, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	return do(opened)
}

// aim holds the flags that name a point of a log.
type aim struct {
	ToCheckpoint *uint32 `help:"The checkpoint with this number." placeholder:"N"`
	ToPoint      *uint32 `help:"The point just after the message or record with this sequence." placeholder:"SEQUENCE"`
}

// contextText formats the context's size and its share of the window.
func contextText(r *compactordv1.ContextReport) string {
	text := terminal.Count(r.GetTokens(), "token")
	if r.ContextWindow != nil {
		text += fmt.Sprintf(" of %s (%s)", terminal.Number(r.GetContextWindow()), terminal.Percent(r.GetTokens(), r.GetContextWindow()))
	}
	return text
}

// roleName returns a role's name for people.
func roleName(r compactordv1.Role) string { return terminal.EnumName(r, "ROLE_") }

// stateName returns the name of a message's state for people.
func stateName(s compactordv1.MessageState) string { return terminal.EnumName(s, "MESSAGE_STATE_") }
