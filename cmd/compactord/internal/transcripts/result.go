package transcripts

import (
	"context"
	"fmt"
	"io"

	"github.com/compactord/compactord/cmd/compactord/internal/conversation"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// result is the outcome of a compaction, as it is printed.
type result struct {
	*conversation.Compacted
	conversation *conversation.Conversation
	// messages is the number of messages in the log. report describes the context after the compaction.
	messages uint32
	report   *compactordv1.ContextReport
	// firstKept is the first kept message; nil if there is no cut. turnStart is the message that starts the split turn;
	// nil if the cut splits no turn.
	firstKept, turnStart *compactordv1.LoggedMessage
	// shown is how many messages from firstKept on the view shows, and edited how many of these are edited.
	shown, edited uint32
	view          *conversation.View
	// earlier is the compaction that was in effect before, or nil.
	earlier *compactordv1.CompactionEntry
	// keepLess is advice for a compaction that was skipped, or nil.
	keepLess *keepLess
	// summaryShown says that the terminal shows the summary already.
	summaryShown bool
}

// nothing returns the error of a compaction that was skipped.
func (r *result) nothing() error {
	err := terminal.NothingError{Why: r.Skipped.GetMessage()}
	switch {
	case r.keepLess != nil:
		return terminal.AdvisedBy(err, r.keepLess.advice())
	case r.Skipped.GetReason() == compactordv1.SkipReason_SKIP_REASON_ALREADY_COMPACTED && r.conversation.Transcript == nil:
		return terminal.Advise(err, "To undo that compaction, such as to compact anew in another way: %s", terminal.Command("undo"))
	case r.Skipped.GetReason() == compactordv1.SkipReason_SKIP_REASON_BELOW_THRESHOLD:
		return terminal.Advise(err, "To compact all the same: %s", terminal.Again().But("reason"))
	default:
		return err
	}
}

// describe reads what a compaction did.
func describe(ctx context.Context, c *conversation.Conversation, done *conversation.Compacted) (*result, error) {
	r := &result{Compacted: done, conversation: c}
	answer, err := c.Sessions.GetSession(ctx, &compactordv1.GetSessionRequest{SessionId: c.Session})
	if err != nil {
		return nil, err
	}
	r.messages, r.report = answer.GetSession().GetNextIndex(), answer.GetReport()
	previous := answer.GetSession().GetCompactionId()
	if e := done.Completed.GetCompaction(); e != nil {
		previous = e.GetPreviousEntryId()
	}
	if r.earlier, err = c.Entry(ctx, previous); err != nil {
		return nil, err
	}
	firstKept, turnStart := r.cut()
	if firstKept == nil {
		return r, nil
	}
	if r.firstKept, err = c.MessageAt(ctx, *firstKept); err != nil {
		return nil, err
	}
	if turnStart != nil {
		if r.turnStart, err = c.MessageAt(ctx, *turnStart); err != nil {
			return nil, err
		}
	}
	view, err := c.View(ctx)
	if err != nil {
		return nil, err
	}
	r.countKept(view)
	return r, nil
}

// countKept counts how a view shows the kept messages. It includes arrival edits and the edits of earlier compactions.
// Results in collapsed tool groups are not shown.
func (r *result) countKept(v *conversation.View) {
	toBeEdited := make(map[uint32]bool)
	for _, e := range r.Planned.GetEdits() {
		toBeEdited[e.GetIndex()] = true
	}
	for _, m := range v.Messages {
		o, logged := m.GetOrigin().(*compactordv1.ViewMessage_Index)
		if !logged || o.Index < r.firstKept.GetIndex() || o.Index >= r.keptUpTo() {
			continue
		}
		r.shown++
		if len(m.GetEdits()) > 0 || toBeEdited[o.Index] {
			r.edited++
		}
	}
}

// keptUpTo returns the end of the kept messages, without the message of origin CONTINUE that the compaction appended.
func (r *result) keptUpTo() uint32 {
	if r.Completed.GetContinueIndex() > 0 {
		return r.Completed.GetContinueIndex()
	}
	return r.messages
}

// cut returns where the conversation was cut or would be.
func (r *result) cut() (firstKept, turnStart *uint32) {
	if e := r.Completed.GetCompaction(); e != nil {
		return &e.FirstKeptIndex, e.SplitTurnStart
	}
	if cut := r.Planned.GetCut(); cut != nil {
		return &cut.FirstKeptIndex, cut.SplitTurnStart
	}
	return nil, nil
}

// print writes the result for people.
func (r *result) print(w io.Writer) {
	switch {
	case r.Planned != nil:
		r.printPlan(w)
	case r.Completed != nil:
		r.printDone(w)
	}
	if r.view != nil {
		fmt.Fprintln(w)
		terminal.Heading(w, "What the model sees")
		r.view.Print(w)
	}
}

func (r *result) printDone(w io.Writer) {
	fmt.Fprintf(w, "Compacted %s.\n\n", terminal.Printable(r.conversation.Name()))
	entry, prune := r.Completed.GetCompaction(), r.Completed.GetPrune()
	before, after := prune.GetTokensBefore(), prune.GetTokensAfter()
	if entry != nil {
		r.printCut(w, "Summarized", entry.GetSummarized())
		after = entry.GetTokensAfter()
		if prune == nil {
			before = entry.GetTokensBefore()
		}
	}
	if prune != nil {
		printEdits(w, prune.GetEdits())
	}
	terminal.Row(w, "Tokens", "%s before, %s after (%s less), of the view, estimated", terminal.Number(before), terminal.Number(after),
		terminal.Percent(before-min(before, after), before))
	if r.Completed.ContinueIndex != nil {
		terminal.Row(w, "Continues", "#%d tells the agent to go on", r.Completed.GetContinueIndex())
	}
	if entry == nil {
		if prune.GetProvenance().GetSummarizer() != "" {
			printWriter(w, prune.GetProvenance())
		}
		return
	}
	if entry.ReplayedIndex != nil {
		terminal.Row(w, "Replayed", "#%d is shown again after the summary", entry.GetReplayedIndex())
	}
	printWriter(w, entry.GetProvenance())
	if files := entry.GetFiles(); len(files.GetRead())+len(files.GetModified()) > 0 {
		terminal.Row(w, "Files", "%d read, %d modified", len(files.GetRead()), len(files.GetModified()))
	}
	if r.summaryShown || r.view != nil {
		// It is on the terminal as it was written, or stands in the view below.
		return
	}
	fmt.Fprintln(w)
	terminal.Heading(w, "Summary (a number like [#12] is that of a message)")
	fmt.Fprintln(w, terminal.Printable(entry.GetSummary()))
}

func (r *result) printPlan(w io.Writer) {
	plan := r.Planned
	fmt.Fprintf(w, "This would be done to %s. Nothing was changed.\n\n", terminal.Printable(r.conversation.Name()))
	if cut := plan.GetCut(); cut != nil {
		r.printCut(w, "Summarize", cut.GetSummarized())
		terminal.Row(w, "Summary", "the policy allows %s", terminal.Count(cut.GetMaxSummaryTokens(), "token"))
	}
	printEdits(w, plan.GetEdits())
	terminal.Row(w, "Tokens", "%s now, estimated", terminal.Number(plan.GetTokensBefore()))
	if plan.GetSummarizerInputTokens() > 0 {
		terminal.Row(w, "Requests", "%s to the model, with %s in all, if none has to be repeated", terminal.Number(plan.GetChunks()),
			terminal.Count(plan.GetSummarizerInputTokens(), "token"))
	}
	if plan.EstimatedCostUsd != nil {
		terminal.Row(w, "Cost", "about %s", terminal.Dollars(plan.GetEstimatedCostUsd()))
	}
}

// printCut writes what is summarized and what is kept.
func (r *result) printCut(w io.Writer, verb string, summarized *compactordv1.IndexRange) {
	terminal.Row(w, verb, "%s", conversation.MessageRange(summarized))
	if r.earlier != nil {
		messages, source := r.conversation.Coverage(r.earlier)
		terminal.Row(w, "Before", "%s, are in the summary %s; the new one includes it", messages, source)
	}
	terminal.Row(w, "Kept", "%s, from %s on", r.keptText(), r.where(r.firstKept))
	if r.turnStart != nil {
		terminal.Row(w, "Split", "the turn that starts at %s: its beginning is summarized, its end kept", r.where(r.turnStart))
	}
}

// keptText says how many messages are kept, and how the view shows them.
func (r *result) keptText() string {
	kept := r.keptUpTo() - r.firstKept.GetIndex()
	text := terminal.Count(kept, "message")
	if r.edited == 0 && r.shown == kept {
		return text + " word for word"
	}
	if r.edited > 0 {
		text += fmt.Sprintf(", %s edited", terminal.Number(r.edited))
	}
	if r.shown < kept {
		text += fmt.Sprintf(", %s not shown", terminal.Number(kept-r.shown))
	}
	return text
}

// where formats a message's index and its place in the file.
func (r *result) where(l *compactordv1.LoggedMessage) string {
	if l.GetMessage().SourcePosition == nil {
		return fmt.Sprintf("#%d", l.GetIndex())
	}
	return fmt.Sprintf("#%d (%s)", l.GetIndex(), r.conversation.Transcript.Place(l.GetMessage().GetSourcePosition()))
}
