package transcripts

import (
	"fmt"
	"io"

	"github.com/compactord/compactord/cmd/compactord/internal/conversation"
	"github.com/compactord/compactord/cmd/compactord/internal/replay"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// print writes the two tables with the meaning of their columns.
func (c *comparison) print(w io.Writer) {
	fmt.Fprintf(w, "%s: %s, an estimated %s.\n", terminal.Printable(c.file.Name), terminal.Count(len(c.file.Messages), "message"),
		terminal.Count(c.tokens, "token"))
	window := terminal.Count(*c.limits.ContextWindow, "token")
	if c.windowChosen {
		fmt.Fprintf(w, "The window: %s, chosen by the transcript's size; --context-window sets another.\n", window)
	} else {
		fmt.Fprintf(w, "The window: %s.\n", window)
	}
	if n := c.file.Compactions(); n > 0 {
		fmt.Fprintf(w, "The file has %s of its own, ignored here so that each preset begins with all messages.\n",
			terminal.Count(n, "compaction"))
	}
	c.printOnce(w)
	c.printReplays(w)
	c.printFailed(w)
}

func (c *comparison) printFailed(w io.Writer) {
	begun := false
	for _, r := range c.results {
		if r.failed == nil {
			continue
		}
		if !begun {
			fmt.Fprint(w, "\nFailed:\n\n")
			begun = true
		}
		fmt.Fprintf(w, "  %-12s %s\n", r.preset, terminal.Printable(r.failed.Error()))
	}
}

func (c *comparison) printOnce(w io.Writer) {
	fmt.Fprintf(w, "\nThe whole transcript, compacted once:\n\n")
	table := terminal.NewFiguresTable(w, "PRESET", "BEFORE", "AFTER", "LESS", "KEPT", "HIDDEN", "OTHER EDITS", "SUMMARY")
	for _, r := range c.results {
		if r.once == nil {
			table.Aside(r.preset, r.inRow())
			continue
		}
		f := r.once
		hidden, others := f.edited()
		summary := "yes"
		switch {
		case f.skipped != nil:
			summary = terminal.EnumName(f.skipped.GetReason(), "SKIP_REASON_")
		case !f.summary:
			summary = "no"
		}
		table.Row(r.preset, terminal.Number(f.before), terminal.Number(f.after), terminal.Percent(f.before-min(f.before, f.after), f.before),
			terminal.Number(f.kept), terminal.Number(hidden), terminal.Number(others), summary)
	}
	table.Flush()
	fmt.Fprint(w, `
BEFORE, AFTER  tokens of the view; LESS is the difference
KEPT           messages of the log that the view still shows
HIDDEN         tool results that the view replaces by placeholders
OTHER EDITS    other messages of the view that are edited
SUMMARY        whether a summary was written, or why nothing was done
`)
}

func (c *comparison) printReplays(w io.Writer) {
	fmt.Fprintf(w, "\nThe transcript replayed, as by an agent (%s to the model):\n\n",
		terminal.Count(c.requests(), "request"))
	table := terminal.NewFiguresTable(w,
		"PRESET", "DUE AT", "REWRITES", "PEAK", "WINDOW", "OVER", "SENT", "REUSED", "LAST", "MESSAGES")
	for _, r := range c.results {
		if r.replay == nil {
			table.Aside(r.preset, r.inRow())
			continue
		}
		f := r.replay
		table.Row(r.preset, dueAt(f), terminal.Number(f.Rewrites), terminal.Number(f.PeakTokens), terminal.Percent(f.PeakTokens, *c.limits.ContextWindow),
			terminal.Number(f.RequestsDue), terminal.Number(f.SentTokens), terminal.Permille(f.ReusedTokens, f.SentTokens), terminal.Number(f.LastTokens),
			terminal.Number(f.LastMessages))
	}
	table.Flush()
	fmt.Fprint(w, `
DUE AT    tokens at which compaction is due
REWRITES  how often the view was rewritten: by a summary, edits, or both at once
PEAK      tokens of the largest request; WINDOW is their share of the window
OVER      requests that were sent although compaction was due, since it did not help enough
SENT      tokens of all requests
REUSED    their share that is also the start of the request before, which a prompt cache can serve
LAST      tokens of the last request; MESSAGES is the number of its messages
`)
	for _, r := range c.results {
		if r.replay != nil && r.replay.Disabled {
			terminal.Paragraph(w, "Under "+r.preset+" "+conversation.NeverDue, "", "")
		}
		if r.replay != nil && r.replay.TriggerTokens != nil && r.replay.TriggerToolGroups != nil {
			fmt.Fprintf(w, "Under %s compaction is also due at %s.\n", r.preset, terminal.Count(*r.replay.TriggerToolGroups, "tool group"))
		}
		if r.replay != nil && r.replay.RequestsUnreachable > 0 {
			terminal.Paragraph(w, fmt.Sprintf("Under %s %s were above DUE AT because of up to %s that no compaction can remove: "+
				"instructions, and the smallest part that must be kept.", r.preset, terminal.Count(r.replay.RequestsUnreachable, "request"),
				terminal.Count(r.replay.FixedTokens, "token")), "", "")
		}
	}
}

// dueAt says at which size compaction was due.
func dueAt(f *replay.Figures) string {
	switch {
	case f.TriggerTokens != nil:
		return terminal.Number(*f.TriggerTokens)
	case f.TriggerToolGroups != nil:
		return terminal.Count(*f.TriggerToolGroups, "group")
	default:
		return "never"
	}
}

// requests returns the number of requests in each replay, which is the same for all.
func (c *comparison) requests() uint32 {
	for _, r := range c.results {
		if r.replay != nil {
			return r.replay.Requests
		}
	}
	return 0
}

// edited counts the messages with hidden results, and those with other edits.
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
