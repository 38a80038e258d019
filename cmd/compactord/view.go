package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// viewCommand is `compactord view`.
type viewCommand struct {
	source
	policyFlags
	Compact              bool    `help:"Compact first; --session is changed by it."`
	AsOf                 *uint32 `help:"Show the view of this point of the session's log, in place of now." placeholder:"SEQUENCE"`
	Focus                string  `help:"With --compact: what the summary is to attend to." placeholder:"TEXT"`
	Messages             bool    `help:"Print the messages that the model sees, in place of the figures."`
	Dialect              string  `help:"Print the JSON that goes into the provider's request, in place of the figures: ${dialects}." placeholder:"NAME"`
	MarkCacheBreakpoints bool    `help:"With --dialect anthropic: mark where the provider's prompt cache is to begin anew."`
	output
}

// Help is printed below the flags.
func (c *viewCommand) Help() string {
	return `The figures are counted as the session counts: four characters a token, unless it was created with another estimator.
Media count by their kind, such as 1,200 tokens for an image. The JSON document holds in_view and not_shown (what fills
the window, and what it was spared), summary (the compaction in effect), tokens, report, notes, messages (how many the log holds) and, with --messages,
view. With --as-of there is no not_shown, and messages are those of the log up to the point.

With --dialect, stdout holds one JSON object with the fields of the request's body that the conversation fills, such as
system and messages.`
}

// Run shows what fills the window.
func (c *viewCommand) Run(ctx context.Context, a *app) (err error) {
	if c.Focus != "" && !c.Compact {
		return usagef("--focus goes with --compact")
	}
	if c.File == "" && !c.Compact && c.policy() != nil {
		return usagef("--preset and what else sets the policy go with a file or with --compact")
	}
	if c.AsOf != nil && (c.Session == "" || c.Compact) {
		return usagef("--as-of goes with --session, and not with --compact")
	}
	var shape dialect.Dialect
	if c.Dialect != "" {
		if shape, err = dialectNamed("--dialect", c.Dialect); err != nil {
			return err
		}
		if c.JSON || c.Messages {
			return usagef("--dialect prints JSON of its own; leave out --json and --messages")
		}
	}
	if c.MarkCacheBreakpoints && c.Dialect != "anthropic" {
		return usagef("--mark-cache-breakpoints goes with --dialect anthropic: the others have no such marks in their messages")
	}
	p := a.progress(c.Quiet)
	defer p.clear()
	conv, err := c.open(ctx, a, c.policy(), p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conv.close()) }()
	conv.asOf = c.AsOf
	if c.Compact {
		if err := c.compactFirst(ctx, a, conv, p); err != nil {
			return err
		}
	}
	p.stage("drawing the view", "", 0)
	if shape != nil {
		return c.printRendered(ctx, a, conv, shape, p)
	}
	v, err := conv.view(ctx)
	if err != nil {
		return err
	}
	f, err := figuresOfView(ctx, conv, v)
	if err != nil {
		return err
	}
	if f.summary, err = conv.entry(ctx, v.summaryOf()); err != nil {
		return err
	}
	p.clear()
	switch {
	case c.JSON:
		return f.printJSON(a.out, conv, v, c.Messages)
	case c.Messages:
		v.print(a.out)
	default:
		f.print(a.out, conv, newPainter(a), unknownWindow(a, conv))
	}
	return nil
}

// unknownWindow is what to say of a window that is not known.
func unknownWindow(a *app, c *conversation) string {
	if c.transcript == nil {
		return ": the session's policy names none."
	}
	const usual = 200_000
	return ". If it is of " + count(usual, "token") + ": " + a.hinted(again("--context-window", digits(usual)))
}

// printRendered prints what goes into the provider's request.
func (c *viewCommand) printRendered(
	ctx context.Context, a *app, conv *conversation, shape dialect.Dialect, p *progress,
) error {
	v, err := conv.rendered(ctx, shape, c.MarkCacheBreakpoints)
	if hasReason(err, "TOOL_CALLS_OPEN") {
		return advise(err, "Views in a dialect need the results: add them to the end, or a message of the user to give them up.")
	}
	if err != nil {
		return err
	}
	v.tell(p)
	if found := shape.Validate(&v.list, dialect.Request); len(found) > 0 {
		p.say("this is a history, and no request yet: %s", found[0])
	}
	p.clear()
	fmt.Fprintf(a.out, "%s\n", shape.Document(&v.list))
	return nil
}

func (c *viewCommand) compactFirst(ctx context.Context, a *app, conv *conversation, p *progress) error {
	request := compactRequest(conv.session, compactordv1.CompactionReason_COMPACTION_REASON_MANUAL)
	request.Focus, request.Policy = c.Focus, c.policy()
	done, err := conv.compact(ctx, request, p)
	if err != nil || done.skipped == nil {
		return conv.whenInterrupted(err)
	}
	// There is a view all the same.
	p.say("not compacted: %s", done.skipped.GetMessage())
	less, err := lessToKeep(ctx, conv, request, done.skipped)
	if less != nil {
		p.say("%s", a.advised(less.advice()))
	}
	return conv.whenInterrupted(err)
}

// figuresOfView reads the log and counts what the view shows of it.
func figuresOfView(ctx context.Context, c *conversation, v *llmView) (*figures, error) {
	answer, err := c.sessions.GetSession(ctx, &compactordv1.GetSessionRequest{SessionId: c.session})
	if err != nil {
		return nil, err
	}
	f, err := newFigures(v, answer.GetSession().GetEstimator())
	if err != nil {
		return nil, fmt.Errorf("cannot count the view's tokens: %w", err)
	}
	request := &compactordv1.ListMessagesRequest{SessionId: c.session, PageSize: 1000, MaxBytes: c.pageBytes}
	if c.asOf != nil {
		// Of what a view of then does not show, the log says only why views of now do not.
		f.notShown = nil
	}
	for {
		page, err := c.sessions.ListMessages(ctx, request)
		if err != nil {
			return nil, err
		}
		for _, l := range page.GetMessages() {
			switch {
			case c.asOf == nil:
				f.logged(l)
			case l.GetSequence() > *c.asOf:
				return f, nil
			default:
				f.messages++
			}
		}
		if page.GetNextPageToken() == "" {
			return f, nil
		}
		request.PageToken = page.GetNextPageToken()
	}
}
