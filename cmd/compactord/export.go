package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/export"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// exportCommand is `compactord export`.
type exportCommand struct {
	Session string `help:"Session to write." placeholder:"ID" required:""`
	To      string `help:"What to write: ${dialects} (JSON Lines), or markdown." placeholder:"NAME" required:""`
	where
	Quiet bool `help:"Print no progress and no notes on stderr." short:"q"`
}

// Help is printed below the flags.
func (c *exportCommand) Help() string {
	return `The whole conversation is written on stdout, as the log holds it: what was compacted or edited comes whole, and what was
put aside by a revert does not. What came in as JSON of that dialect comes out as it was. For the list that goes into a
request, see 'compactord view --session ID --dialect NAME'.`
}

// Run exports a session.
func (c *exportCommand) Run(ctx context.Context, a *app) (err error) {
	var to dialect.Dialect
	if c.To != markdown {
		if to, err = dialectNamed("--to", c.To); err != nil {
			return err
		}
	}
	p := a.progress(c.Quiet)
	defer p.clear()
	client, err := c.open(ctx, a, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.close()) }()
	conv := &conversation{client: client, session: c.Session}
	p.stage("reading session "+c.Session, "", 0)
	logged, err := activeMessages(ctx, conv)
	if err != nil {
		return err
	}
	p.clear()
	if len(logged) == 0 {
		return nothingError{conv.name() + " holds no messages"}
	}
	if to == nil {
		return export.Markdown(a.out, numbered(logged))
	}
	messages := make([]*compactordv1.Message, len(logged))
	for i, l := range logged {
		messages[i] = l.GetMessage()
	}
	rendered, err := to.Render(messages, dialect.RenderOptions{AsWritten: true})
	if err != nil {
		return err
	}
	return export.Lines(a.out, to, &rendered.List)
}

// activeMessages reads the messages of the active path.
func activeMessages(ctx context.Context, c *conversation) ([]*compactordv1.LoggedMessage, error) {
	var active []*compactordv1.LoggedMessage
	request := &compactordv1.ListMessagesRequest{SessionId: c.session, PageSize: 1000, MaxBytes: c.pageBytes}
	for {
		page, err := c.sessions.ListMessages(ctx, request)
		if err != nil {
			return nil, refusedFlags(err)
		}
		for _, l := range page.GetMessages() {
			if l.GetState() != compactordv1.MessageState_MESSAGE_STATE_PUT_ASIDE {
				active = append(active, l)
			}
		}
		if page.GetNextPageToken() == "" {
			return active, nil
		}
		request.PageToken = page.GetNextPageToken()
	}
}

func numbered(logged []*compactordv1.LoggedMessage) []export.Message {
	messages := make([]export.Message, len(logged))
	for i, l := range logged {
		messages[i] = export.Message{Message: l.GetMessage(), Title: fmt.Sprintf("#%d", l.GetIndex())}
	}
	return messages
}
