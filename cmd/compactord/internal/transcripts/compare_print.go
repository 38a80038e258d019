package transcripts

import (
	"fmt"
	"io"

	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// print writes the two tables and what their columns mean.
func (c *comparison) print(w io.Writer) {
	fmt.Fprintf(w, "%s: %s, an estimated %s.\n", terminal.Printable(c.file.Name), terminal.Count(len(c.file.Messages), "message"),
		terminal.Count(c.tokens, "token"))
	window := terminal.Count(*c.limits.ContextWindow, "token")
	if c.madeUp {
		fmt.Fprintf(w, "The window: %s, made up from the transcript's size; --context-window sets another.\n", window)
	} else {
		fmt.Fprintf(w, "The window: %s.\n", window)
	}
	if n := c.file.Compactions(); n > 0 {
		fmt.Fprintf(w, "The file brought %s of its own: left out here, so that each preset begins with the whole of it.\n",
			terminal.Count(n, "compaction"))
	}
	c.printOnce(w)
	c.printReplays(w)
	c.printFailed(w)
}

func (c *comparison) printFailed(w io.Writer) {
	said := false
	for _, t := range c.trials {
		if t.failed == nil {
			continue
		}
		if !said {
			fmt.Fprint(w, "\nFailed:\n\n")
			said = true
		}
		fmt.Fprintf(w, "  %-12s %s\n", t.preset, terminal.Printable(t.failed.Error()))
	}
}

func (c *comparison) printOnce(w io.Writer) {
	fmt.Fprintf(w, "\nThe whole transcript, compacted once:\n\n")
	table := terminal.NewFiguresTable(w, "PRESET", "BEFORE", "AFTER", "LESS", "KEPT", "HIDDEN", "OTHER EDITS", "SUMMARY")
	for _, t := range c.trials {
		if t.once == nil {
			table.Aside(t.preset, t.inRow())
			continue
		}
		f := t.once
		hidden, others := f.edited()
		summary := "yes"
		switch {
		case f.skipped != nil:
			summary = terminal.EnumName(f.skipped.GetReason(), "SKIP_REASON_")
		case !f.summary:
			summary = "no"
		}
		table.Row(t.preset, terminal.Number(f.before), terminal.Number(f.after), terminal.Percent(f.before-min(f.before, f.after), f.before),
			terminal.Number(f.kept), terminal.Number(hidden), terminal.Number(others), summary)
	}
	table.Flush()
	fmt.Fprint(w, `
BEFORE, AFTER  tokens of the view; LESS is the difference
KEPT           messages of the log that the view still shows
HIDDEN         tool results that the view only names
OTHER EDITS    other messages of the view that were shortened
SUMMARY        whether one stands for the rest, or why nothing was done
`)
}

func (c *comparison) printReplays(w io.Writer) {
	fmt.Fprintf(w, "\nThe transcript replayed, as an agent would live through it (%s to the model):\n\n",
		terminal.Count(c.requests(), "request"))
	table := terminal.NewFiguresTable(w,
		"PRESET", "DUE AT", "REWRITES", "PEAK", "WINDOW", "OVER", "SENT", "REUSED", "LAST", "MESSAGES")
	for _, t := range c.trials {
		if t.replay == nil {
			table.Aside(t.preset, t.inRow())
			continue
		}
		f := t.replay
		table.Row(t.preset, f.dueAt(), terminal.Number(f.Rewrites), terminal.Number(f.PeakTokens), terminal.Percent(f.PeakTokens, *c.limits.ContextWindow),
			terminal.Number(f.RequestsDue), terminal.Number(f.SentTokens), terminal.Permille(f.ReusedTokens, f.SentTokens), terminal.Number(f.LastTokens),
			terminal.Number(f.LastMessages))
	}
	table.Flush()
	fmt.Fprint(w, `
DUE AT    compaction is due at so many tokens
REWRITES  how many times what the model had seen was changed: by a summary, edits, or both at once
PEAK      tokens of the largest request; WINDOW is their share of it
OVER      requests that were sent although compaction was due: it could not help, or not enough
SENT      tokens of all requests
REUSED    share of these that began the request before too: what a prompt cache serves
LAST      tokens of the last request, and its MESSAGES
`)
	for _, t := range c.trials {
		if t.replay != nil && t.replay.Disabled {
			terminal.Paragraph(w, "Under "+t.preset+" "+c.limits.NeverDue(), "", "")
		}
		if t.replay != nil && t.replay.TriggerTokens != nil && t.replay.TriggerToolGroups != nil {
			fmt.Fprintf(w, "Under %s it is due at %s too.\n", t.preset, terminal.Count(*t.replay.TriggerToolGroups, "tool group"))
		}
	}
}

// dueAt says when compaction was due.
func (f *replayFigures) dueAt() string {
	switch {
	case f.TriggerTokens != nil:
		return terminal.Number(*f.TriggerTokens)
	case f.TriggerToolGroups != nil:
		return terminal.Count(*f.TriggerToolGroups, "group")
	default:
		return "never"
	}
}

// requests is how many requests each replay made: the same number for all.
func (c *comparison) requests() uint32 {
	for _, t := range c.trials {
		if t.replay != nil {
			return t.replay.Requests
		}
	}
	return 0
}

// edited counts the messages with hidden results, and all other edits.
func (f *onceFigures) edited() (hidden, others uint32) {
	for kind, n := range f.edits {
		if kind == compactordv1.EditKind_EDIT_KIND_HIDE_RESULT {
			hidden += n
		} else {
			others += n
		}
	}
	return hidden, others
}
