package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/export"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// convertCommand is `compactord convert`.
type convertCommand struct {
	File string `arg:"" help:"Transcript to read; - is standard input."`
	To   string `help:"What to write: ${dialects} (JSON Lines), or markdown." placeholder:"NAME" required:""`
	reading
	Quiet bool `help:"Print no progress and no notes on stderr." short:"q"`
}

// Help is printed below the flags.
func (c *convertCommand) Help() string {
	return `The whole conversation is written on stdout, whatever was compacted of it. In the dialect that FILE is written in it
comes out as it was; in another one as a list that its provider takes, mended as views are: 'compactord help
dialects' tells how.
A system prompt that the dialect keeps apart stands on the first line.`
}

// Run converts a transcript.
func (c *convertCommand) Run(ctx context.Context, a *app) (err error) {
	p := a.progress(c.Quiet)
	defer p.clear()
	var to dialect.Dialect
	if c.To != markdown {
		if to, err = dialectNamed("--to", c.To); err != nil {
			return err
		}
	}
	if err := c.check(a); err != nil {
		return err
	}
	// What the source compacted is in the file, and is to be in what is written.
	c.WithoutCompactions = true
	t, err := readTranscript(ctx, a, c.File, c.reading, p)
	if err != nil {
		return err
	}
	if len(t.messages) == 0 {
		return nothingError{t.name + " holds no messages"}
	}
	switch {
	case to == nil:
		p.clear()
		return export.Markdown(a.out, titled(t))
	case string(t.reader.Format()) == to.Name():
		list, err := to.Render(t.messages, dialect.RenderOptions{AsWritten: true})
		if err != nil {
			return err
		}
		p.clear()
		return export.Lines(a.out, to, &list.List)
	}
	shown, err := mended(ctx, a, t, p)
	if err != nil {
		return err
	}
	rendered, err := to.Render(shown, dialect.RenderOptions{})
	if err != nil {
		return err
	}
	if found := to.Validate(&rendered.List, dialect.History); len(found) > 0 {
		p.say("the list breaks the rules of %s in %s, such as %s", to.Name(), count(len(found), "place"), found[0])
	}
	p.clear()
	return export.Lines(a.out, to, &rendered.List)
}

// titled are the messages with their places in the file.
func titled(t *readFile) []export.Message {
	messages := make([]export.Message, len(t.messages))
	for i, m := range t.messages {
		messages[i] = export.Message{Message: m, Title: fmt.Sprintf("#%d", i)}
	}
	return messages
}

// mended are the messages as a view shows them: calls answered, and results that answer nothing as text.
func mended(ctx context.Context, a *app, t *readFile, p *progress) (messages []*compactordv1.Message, err error) {
	c, err := a.embedTemporary(ctx)
	if err != nil {
		return nil, err
	}
	conv := &conversation{client: c, session: fileSession, transcript: t}
	defer func() { err = errors.Join(err, c.close()) }()
	if _, err := conv.create(ctx, nil); err != nil {
		return nil, err
	}
	if err := conv.fill(ctx, p); err != nil {
		return nil, err
	}
	v, err := conv.view(ctx)
	if err != nil {
		return nil, err
	}
	for _, vm := range v.messages {
		messages = append(messages, vm.GetMessage())
	}
	return messages, nil
}
