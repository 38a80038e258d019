package sessions

import (
	"context"
	"errors"
	"fmt"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/conversation"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/export"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Export is `compactord export`.
type Export struct {
	Session string `help:"Session to export." placeholder:"ID" required:""`
	To      string `default:"all" help:"What to write: all that is stored, or the messages as ${dialects} (JSON Lines), or markdown (default: ${default})." placeholder:"NAME"`
	api.Where
	Quiet bool `help:"Print no progress and no notes on stderr." short:"q"`
}

// Help is printed below the flags.
func (c *Export) Help() string {
	return `Writes to stdout all that the daemon has stored of a session and of the sessions below it, as JSON Lines: a line with
"session", its row, and then a line for each message, record, remembered request and child, also those that a revert put
aside. The audit log is a file of its own.

With --to and a dialect, or markdown, it writes the active messages of the log, also those that are summarized or edited
in views. Messages that a revert put aside are left out. Messages that were appended as JSON of the same dialect are written as they were. Records are left
out too: compactions, folds, context blocks, and instructions that replaced those of the log. For the list that goes into a
request, with all of them, see 'compactord view --session ID --dialect NAME'.`
}

// Run exports a session.
func (c *Export) Run(ctx context.Context, a *api.App) (err error) {
	var to dialect.Dialect
	if c.To == everything {
		return c.exportAll(ctx, a)
	}
	if c.To != conversation.Markdown {
		if to, err = conversation.DialectNamed("--to", c.To); err != nil {
			return err
		}
	}
	p := a.Progress(c.Quiet)
	defer p.Clear()
	client, err := c.Open(ctx, a, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	conv := &conversation.Conversation{Client: client, Session: c.Session}
	p.Stage("reading session "+c.Session, "", 0)
	logged, err := activeMessages(ctx, conv)
	if err != nil {
		return err
	}
	if len(logged) == 0 {
		return terminal.NothingError{Why: conv.Name() + " has no messages"}
	}
	notes, err := notExported(ctx, client, c.Session)
	if err != nil {
		return err
	}
	for _, note := range notes {
		p.Say("%s", note)
	}
	p.Clear()
	if to == nil {
		return export.Markdown(a.Out, numbered(logged))
	}
	messages := make([]*compactordv1.Message, len(logged))
	for i, l := range logged {
		messages[i] = l.GetMessage()
	}
	rendered, err := to.Render(messages, dialect.RenderOptions{AsWritten: true})
	if err != nil {
		return err
	}
	return export.Lines(a.Out, to, &rendered.List)
}

// activeMessages reads all messages that are not put aside.
func activeMessages(ctx context.Context, c *conversation.Conversation) ([]*compactordv1.LoggedMessage, error) {
	var active []*compactordv1.LoggedMessage
	request := &compactordv1.ListMessagesRequest{SessionId: c.Session, PageSize: 1000, MaxBytes: c.PageBytes}
	for {
		page, err := c.Sessions.ListMessages(ctx, request)
		if err != nil {
			return nil, api.RefusedFlags(err)
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
