package transcripts

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/conversation"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// painter draws bars, with colours on a terminal and with plain characters elsewhere.
type painter struct{ terminal bool }

// newPainter returns a painter without colours where NO_COLOR is set.
func newPainter(a *api.App) painter { return painter{a.OutTerminal && os.Getenv("NO_COLOR") == ""} }

// meterWidth is the width of a bar in characters.
const meterWidth = 36

// The colours of the kinds, as terminals number them.
var colours = [kinds]int{
	ofSystem: 35, ofSummary: 36, ofUser: 32, ofAssistant: 34, ofThinking: 90, ofCalls: 33, ofResults: 31, ofMedia: 95,
}

// bar draws a share of a whole. A share above 0 has at least one character.
func (p painter) bar(part, whole uint32, colour int) string {
	full := 0
	if whole > 0 {
		full = int(uint64(meterWidth) * uint64(min(part, whole)) / uint64(whole))
	}
	if part > 0 {
		full = max(full, 1)
	}
	if !p.terminal {
		return strings.Repeat("#", full) + strings.Repeat(".", meterWidth-full)
	}
	return fmt.Sprintf("\x1b[%dm%s\x1b[90m%s\x1b[0m", colour, strings.Repeat("█", full),
		strings.Repeat("░", meterWidth-full))
}

// print writes the figures for people. unknown is the text after an unknown window.
func (f *figures) print(w io.Writer, c *conversation.Conversation, paint painter, unknown string) {
	tokens := "an estimated " + terminal.Count(f.tokens, "token")
	if session.Exact(f.estimator) {
		tokens = terminal.Count(f.tokens, "token") + " by " + estimatorName(f.estimator)
	}
	fmt.Fprintf(w, "What the model sees of %s: %s, %s.\n\n", terminal.Printable(c.Name()), terminal.Count(f.viewMessages, "message"), tokens)
	for kind, s := range f.inView {
		meter(w, paint.bar(s.Tokens, f.tokens, colours[kind]), s.label, s.Tokens, f.tokens)
	}
	if f.summary != nil {
		messages, source := c.Coverage(f.summary)
		if f.summary.GetImportedFrom() != "" {
			messages += "; it is the one " + source
		}
		fmt.Fprintf(w, "\nThe summary covers %s.\n", messages)
	}
	f.printWindow(w, paint, unknown)
	f.printNotShown(w)
}

// tokenColumns formats a number of tokens so that numbers and words align.
func tokenColumns(n uint32) string {
	unit := "tokens"
	if n == 1 {
		unit = "token"
	}
	return fmt.Sprintf("%12s %-6s", terminal.Number(n), unit)
}

func meter(w io.Writer, bar, label string, part, whole uint32) {
	fmt.Fprintf(w, "  %-13s %s %s %6s\n", label, bar, tokenColumns(part), terminal.Percent(part, whole))
}

// printWindow writes how full the window is.
func (f *figures) printWindow(w io.Writer, paint painter, unknown string) {
	r := f.report
	fmt.Fprintln(w)
	reported := r.GetSource() == compactordv1.TokenSource_TOKEN_SOURCE_REPORTED
	source := "estimated"
	switch {
	case reported:
		source = "as the provider last reported"
	case r.GetSource() == compactordv1.TokenSource_TOKEN_SOURCE_EXACT:
		source = "counted"
	case r.GetSource() == compactordv1.TokenSource_TOKEN_SOURCE_CALIBRATED:
		source = "estimated, and corrected by the provider's usage reports"
	}
	if r.ContextWindow == nil {
		fmt.Fprintf(w, "The context holds %s (%s).", terminal.Count(r.GetTokens(), "token"), source)
		f.printOverhead(w, reported)
		fmt.Fprintf(w, "\nThe window is unknown%s\n", unknown)
		return
	}
	const white = 37
	meter(w, paint.bar(r.GetTokens(), r.GetContextWindow(), white), "window", r.GetTokens(), r.GetContextWindow())
	fmt.Fprintf(w, "\nThe window has %s; the context holds %s (%s).", terminal.Count(r.GetContextWindow(), "token"),
		terminal.Number(r.GetTokens()), source)
	f.printOverhead(w, reported)
	if r.TriggerTokens != nil {
		fmt.Fprintf(w, "\nCompaction is due at %s.", terminal.Number(r.GetTriggerTokens()))
	}
	fmt.Fprintln(w)
	for _, reason := range r.GetBlockedBy() {
		fmt.Fprintln(w, conversation.BlockedText(reason, r))
	}
}

// printOverhead writes the overhead, which the context has beside the view.
func (f *figures) printOverhead(w io.Writer, reported bool) {
	if overhead := f.report.GetOverheadTokens(); !reported && overhead > 0 {
		fmt.Fprintf(w, "\n%s of them are overhead, which is not in the conversation: tools and prompts that the agent adds.", terminal.Number(overhead))
	}
}

func (f *figures) printNotShown(w io.Writer) {
	begun := false
	for _, s := range f.notShown {
		if s.Messages == 0 {
			continue
		}
		if !begun {
			fmt.Fprintf(w, "\nNot shown to the model:\n\n")
			begun = true
		}
		fmt.Fprintf(w, "  %-26s %14s %s\n", s.label, terminal.Count(s.Messages, "message"),
			strings.TrimRight(tokenColumns(s.Tokens), " "))
	}
}

// shareJSON is a share with its percentage of the view.
type shareJSON struct {
	share
	Percent float64 `json:"percent"`
}

// figuresJSON is the document of `view --json`.
type figuresJSON struct {
	Tokens   uint32                    `json:"tokens"`
	InView   []shareJSON               `json:"in_view"`
	NotShown []share                   `json:"not_shown,omitempty"`
	Summary  *conversation.EarlierJSON `json:"summary,omitempty"`
	Report   *terminal.APIJSON         `json:"report,omitempty"`
	Notes    []string                  `json:"notes"`
	Messages uint32                    `json:"messages"`
}

// json returns the document of `view --json` without the messages.
func (f *figures) json(c *conversation.Conversation) figuresJSON {
	doc := figuresJSON{
		Tokens: f.tokens, NotShown: f.notShown, Summary: conversation.EarlierOf(f.summary), Report: terminal.Optional(f.report),
		Notes: append([]string{}, c.Notes()...), Messages: f.messages,
	}
	for _, s := range f.inView {
		part := 0.0
		if f.tokens > 0 {
			part = float64(uint64(s.Tokens)*10000/uint64(f.tokens)) / 100
		}
		doc.InView = append(doc.InView, shareJSON{s, part})
	}
	return doc
}

// printWithView prints the document of `view --json --messages`. A view of more than a page is read once more for that, a page at
// a time.
func (f *figures) printWithView(ctx context.Context, w io.Writer, c *conversation.Conversation) error {
	return terminal.PrintJSONWith(w, f.json(c), "view", func(add func(element any) error) error {
		one := func(m *compactordv1.ViewMessage) error { return add(terminal.Answer(m)) }
		if f.pages == 1 {
			for _, m := range f.firstPage {
				if err := one(m); err != nil {
					return err
				}
			}
			return nil
		}
		token, err := c.EachInView(ctx, func() {}, one)
		if err == nil && token != f.viewToken {
			return conversation.ErrViewChanged
		}
		return err
	})
}
