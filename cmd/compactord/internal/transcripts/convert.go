package transcripts

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

// Convert is `compactord convert`.
type Convert struct {
	File string `arg:"" help:"Transcript to read; - is standard input."`
	To   string `help:"What to write: ${dialects} (JSON Lines), or markdown." placeholder:"NAME" required:""`
	conversation.Reading
	Quiet bool `help:"Print no progress and no notes on stderr." short:"q"`
}

// Help is printed below the flags.
func (c *Convert) Help() string {
	return `Writes the whole conversation to stdout, also messages that the source compacted. In the dialect of FILE the messages are
written as they were. In another dialect they are repaired like views, so that the provider accepts them ('compactord
help dialects' describes how). A system prompt that the dialect keeps apart is on the first line.`
}

// Run converts a transcript.
func (c *Convert) Run(ctx context.Context, a *api.App) (err error) {
	p := a.Progress(c.Quiet)
	defer p.Clear()
	var to dialect.Dialect
	if c.To != conversation.Markdown {
		if to, err = conversation.DialectNamed("--to", c.To); err != nil {
			return err
		}
	}
	if err := c.Check(a); err != nil {
		return err
	}
	// The output has all messages, also those that the source compacted.
	c.WithoutCompactions = true
	t, err := conversation.ReadTranscript(ctx, a, c.File, c.Reading, p)
	if err != nil {
		return err
	}
	if len(t.Messages) == 0 {
		return terminal.NothingError{Why: t.Name + " has no messages"}
	}
	switch {
	case to == nil:
		p.Clear()
		return export.Markdown(a.Out, titled(t))
	case string(t.Reader.Format()) == to.Name():
		list, err := to.Render(t.Messages, dialect.RenderOptions{AsWritten: true})
		if err != nil {
			return err
		}
		p.Clear()
		return export.Lines(a.Out, to, &list.List)
	}
	shown, err := repaired(ctx, a, t, p)
	if err != nil {
		return err
	}
	rendered, err := to.Render(shown, dialect.RenderOptions{})
	if err != nil {
		return err
	}
	if found := to.Validate(&rendered.List, dialect.History); len(found) > 0 {
		p.Say("the list breaks the rules of %s in %s, such as %s", to.Name(), terminal.Count(len(found), "place"), found[0])
	}
	p.Clear()
	return export.Lines(a.Out, to, &rendered.List)
}

// titled returns the messages with their numbers as titles.
func titled(t *conversation.Transcript) []export.Message {
	messages := make([]export.Message, len(t.Messages))
	for i, m := range t.Messages {
		messages[i] = export.Message{Message: m, Title: fmt.Sprintf("#%d", i)}
	}
	return messages
}

// repaired returns the messages as a view shows them: every call has a result, and stray results are text.
func repaired(ctx context.Context, a *api.App, t *conversation.Transcript, p *terminal.Progress) (messages []*compactordv1.Message, err error) {
	c, err := a.EmbedTemporary(ctx)
	if err != nil {
		return nil, err
	}
	conv := &conversation.Conversation{Client: c, Session: conversation.FileSession, Transcript: t}
	defer func() { err = errors.Join(err, c.Close()) }()
	if _, err := conv.Create(ctx, nil); err != nil {
		return nil, err
	}
	if err := conv.Fill(ctx, p); err != nil {
		return nil, err
	}
	v, err := conv.View(ctx)
	if err != nil {
		return nil, err
	}
	for _, vm := range v.Messages {
		messages = append(messages, vm.GetMessage())
	}
	return messages, nil
}
