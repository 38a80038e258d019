// Package sessions holds the commands that work on the sessions of a daemon or a store.
package sessions

import (
	"context"
	"errors"
	"strings"

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

// contextText formats the context's size, its share of the window, and what of it is overhead: the figures of compactions
// are those of the view alone.
func contextText(r *compactordv1.ContextReport) string {
	text := terminal.Count(r.GetTokens(), "token")
	var more []string
	if r.ContextWindow != nil {
		text += " of " + terminal.Number(r.GetContextWindow())
		more = append(more, terminal.Percent(r.GetTokens(), r.GetContextWindow()))
	}
	if overhead := r.GetOverheadTokens(); overhead > 0 && r.GetSource() != compactordv1.TokenSource_TOKEN_SOURCE_REPORTED {
		more = append(more, terminal.Number(overhead)+" of them overhead")
	}
	if len(more) > 0 {
		text += " (" + strings.Join(more, ", ") + ")"
	}
	return text
}

// roleName returns a role's name for people.
func roleName(r compactordv1.Role) string { return terminal.EnumName(r, "ROLE_") }

// stateName returns the name of a message's state for people.
func stateName(s compactordv1.MessageState) string { return terminal.EnumName(s, "MESSAGE_STATE_") }
