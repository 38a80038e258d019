package main

import (
	"context"
	"errors"
	"fmt"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// onSession are the flags of a command that works on one session.
type onSession struct {
	Session string `help:"Session to work on." placeholder:"ID" required:""`
	where
	JSON bool `help:"Print one JSON document: the answer as the API gives it." name:"json"`
}

// with opens what the flags name for the length of do.
func (c *onSession) with(ctx context.Context, a *app, do func(*client) error) (err error) {
	opened, err := c.open(ctx, a, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, opened.close()) }()
	return do(opened)
}

// aim are the flags that name a place in a log.
type aim struct {
	ToCheckpoint *uint32 `help:"The checkpoint with this number." placeholder:"N"`
	ToPoint      *uint32 `help:"The point just after the message or record with this sequence." placeholder:"SEQUENCE"`
}

// contextText says how full the context is.
func contextText(r *compactordv1.ContextReport) string {
	text := count(r.GetTokens(), "token")
	if r.ContextWindow != nil {
		text += fmt.Sprintf(" of %s (%s)", number(r.GetContextWindow()), percent(r.GetTokens(), r.GetContextWindow()))
	}
	return text
}

// roleName is how people write a role.
func roleName(r compactordv1.Role) string { return enumName(r, "ROLE_") }

// stateName is how people write the state of a message.
func stateName(s compactordv1.MessageState) string { return enumName(s, "MESSAGE_STATE_") }
