package transcripts

import (
	"context"
	"errors"
	"fmt"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/conversation"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// View is `compactord view`.
type View struct {
	conversation.Source
	conversation.PolicyFlags
	Compact              bool    `help:"Compact first. This changes the session of --session."`
	AsOf                 *uint32 `help:"Show the view at this point of the session's log, instead of now." placeholder:"SEQUENCE"`
	Focus                string  `help:"With --compact: what the summary must pay attention to." placeholder:"TEXT"`
	Messages             bool    `help:"Print the messages of the view, instead of the figures."`
	Dialect              string  `help:"Print the JSON for the provider's request, instead of the figures: ${dialects}." placeholder:"NAME"`
	MarkCacheBreakpoints bool    `help:"With --dialect anthropic: mark cache breakpoints at the ends of the system prompt, the summary and the view."`
	terminal.Output
}

// Help is printed below the flags.
func (c *View) Help() string {
	return `The session's estimator counts the tokens: four characters a token, unless the session was created with another one. Media
count by their kind, such as 1,200 tokens for an image. The JSON document holds in_view (what fills the window), not_shown
(what views leave out), summary (the compaction in effect), tokens, report, notes, messages (the number in the log) and,
with --messages, view. With --as-of, not_shown is left out, and messages counts the log up to the point.

A terminal also shows how large the context was over the log: the sum of the messages' estimates, less what compactions, prunes
and reverts took. With NO_COLOR, it is drawn in plain characters.

With --dialect, stdout is one JSON object with those fields of the request's body that hold the conversation, such as
system and messages.`
}

// Run shows what fills the window.
func (c *View) Run(ctx context.Context, a *api.App) (err error) {
	if c.Focus != "" && !c.Compact {
		return terminal.Usagef("--focus needs --compact")
	}
	if c.File == "" && !c.Compact && c.Policy() != nil {
		return terminal.Usagef("--preset, --policy and the other flags of the policy need a file or --compact")
	}
	if c.AsOf != nil && (c.Session == "" || c.Compact) {
		return terminal.Usagef("--as-of needs --session, and excludes --compact")
	}
	var shape dialect.Dialect
	if c.Dialect != "" {
		if shape, err = conversation.DialectNamed("--dialect", c.Dialect); err != nil {
			return err
		}
		if c.JSON || c.Messages {
			return terminal.Usagef("--dialect prints its own JSON: leave out --json and --messages")
		}
	}
	if c.MarkCacheBreakpoints && c.Dialect != "anthropic" {
		return terminal.Usagef("--mark-cache-breakpoints needs --dialect anthropic: other dialects have no such marks")
	}
	p := a.Progress(c.Quiet)
	defer p.Clear()
	conv, err := c.Open(ctx, a, c.Policy(), p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conv.Close()) }()
	conv.AsOf = c.AsOf
	if c.Compact {
		if err := c.compactFirst(ctx, a, conv, p); err != nil {
			return err
		}
	}
	p.Stage("drawing the view", "", 0)
	if shape != nil {
		return c.printRendered(ctx, a, conv, shape, p)
	}
	return c.show(ctx, a, conv, p)
}

// show prints the messages of the view, or the figures.
func (c *View) show(ctx context.Context, a *api.App, conv *conversation.Conversation, p *terminal.Progress) error {
	if c.Messages && !c.JSON {
		return conv.PrintView(ctx, a.Out, p.Clear)
	}
	f, err := figuresOfView(ctx, conv)
	if err != nil {
		return err
	}
	if f.summary, err = conv.Entry(ctx, f.summaryOf); err != nil {
		return err
	}
	p.Clear()
	switch {
	case c.JSON && c.Messages:
		return f.printWithView(ctx, a.Out, conv)
	case c.JSON:
		return terminal.PrintJSON(a.Out, f.json(conv))
	}
	f.print(a.Out, conv, newPainter(a), unknownWindow(a, conv))
	return c.drawCurve(ctx, a, conv, f)
}

// drawCurve draws on a terminal how large the context was over the log.
func (c *View) drawCurve(ctx context.Context, a *api.App, conv *conversation.Conversation, f *figures) error {
	if !a.OutTerminal || c.AsOf != nil {
		return nil
	}
	sizes, err := f.readCurve(ctx, conv)
	if err != nil {
		return err
	}
	sizes.draw(a.Out, f.report, newPainter(a), a.Columns)
	return nil
}

// unknownWindow returns the text after an unknown window.
func unknownWindow(a *api.App, c *conversation.Conversation) string {
	if c.Transcript == nil {
		return ": the session's policy names none, so no compaction comes due by itself. " + conversation.NameWindow(a, c.Session)
	}
	return ". If it has " + terminal.Count(conversation.UsualWindow, "token") + ": " +
		a.Hinted(terminal.Again("--context-window", terminal.Digits(conversation.UsualWindow)))
}

// printRendered prints the fields of the provider's request.
func (c *View) printRendered(
	ctx context.Context, a *api.App, conv *conversation.Conversation, shape dialect.Dialect, p *terminal.Progress,
) error {
	report, err := conv.PrintRendered(ctx, a.Out, shape, c.MarkCacheBreakpoints, p.Clear)
	if api.HasReason(err, "TOOL_CALLS_OPEN") {
		return terminal.Advise(err, "A rendered view needs the results: append them, or append a USER message to give the calls up.")
	}
	if err != nil {
		return err
	}
	report.Say(p)
	return nil
}

func (c *View) compactFirst(ctx context.Context, a *api.App, conv *conversation.Conversation, p *terminal.Progress) error {
	request := conversation.CompactRequest(conv.Session, compactordv1.CompactionReason_COMPACTION_REASON_MANUAL)
	request.Focus, request.Policy = c.Focus, c.Policy()
	done, err := conv.Compact(ctx, request, p)
	if err != nil || done.Skipped == nil {
		return conv.WhenInterrupted(err)
	}
	// The view can be shown anyway.
	p.Say("not compacted: %s", done.Skipped.GetMessage())
	less, err := lessToKeep(ctx, conv, request, done.Skipped)
	if less != nil {
		p.Say("%s", a.Advised(less.advice()))
	}
	return conv.WhenInterrupted(err)
}

// figuresOfView counts the view, of which a page at a time is held, and what it does not show of the log.
func figuresOfView(ctx context.Context, c *conversation.Conversation) (*figures, error) {
	answer, err := c.Sessions.GetSession(ctx, &compactordv1.GetSessionRequest{SessionId: c.Session})
	if err != nil {
		return nil, api.RefusedFlags(err)
	}
	f, err := newFigures(answer.GetSession().GetEstimator())
	if err != nil {
		return nil, fmt.Errorf("cannot count the view's tokens: %w", err)
	}
	if f.report, f.viewToken, err = c.ReadView(ctx, f); err != nil {
		return nil, err
	}
	request := &compactordv1.ListMessagesRequest{
		SessionId: c.Session, PageSize: 1000, MaxBytes: min(c.PageBytes, conversation.HeldPageBytes),
	}
	if c.AsOf != nil {
		// The log says why the present view leaves messages out, not why an earlier one did.
		f.notShown = nil
	}
	for {
		page, err := c.Sessions.ListMessages(ctx, request)
		if err != nil {
			return nil, err
		}
		for _, l := range page.GetMessages() {
			switch {
			case c.AsOf == nil:
				f.logged(l)
			case l.GetSequence() > *c.AsOf:
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
