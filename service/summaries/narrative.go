package summaries

import (
	"context"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/session/quotation"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/attribution"
	"github.com/compactord/compactord/summarizers/extractive"
	"github.com/compactord/compactord/summarizers/grounding"
)

// leastNarrative is the smallest budget that is divided. The standard headings alone have some 70 tokens.
const leastNarrative = 400

// narrativeRequest returns the request that a model gets for a summary. The model writes the narrative in half of the
// budget, and quotes are added to it. The quotes of the previous summary compete with them, so the model does not get
// these.
func narrativeRequest(req *summarizers.Request) *summarizers.Request {
	if req.Kind == summarizers.Observation || req.Kind == summarizers.Range {
		return req
	}
	asked := *req
	asked.NarrativeTokens = max(req.MaxTokens/2, min(req.MaxTokens, leastNarrative))
	asked.PreviousSummary = extractive.WithoutQuotes(req.PreviousSummary, req.PreviousSections)
	return &asked
}

// writesNarrative says whether a summarizer writes only the narrative of a summary or of a fold. `extractive` writes
// all of it, and so does a client that sends a whole summary in place of answers.
func (d *draft) writesNarrative(by summarizers.Summarizer) bool {
	texts, byClient := by.(*ClientTexts)
	return d.request.Kind != summarizers.Observation && by.Name() != Fallback && (!byClient || texts.Prompted)
}

// complete makes a summary of a model's accepted text: it marks the names that are not in the conversation, and adds
// quotes of what the text leaves out. A bug in that leaves the text as it is. The error is the cause of a context that
// has ended.
func (d *draft) complete(ctx context.Context) (err error) {
	w, accepted := d.writer, d.text
	defer func() {
		if r := recover(); r != nil {
			d.text, d.written.UnsupportedNames = accepted, 0
			_ = apierror.Recovered(ctx, w.config.Logger, "summary of "+w.summarizer.Name(), w.op.ID, r)
		}
	}()
	req := *d.request
	if w.secrets != nil {
		// The secrets were counted when the model's prompt was made.
		req.Redact = w.secrets.replaceShown
	}
	fits := func(text string) bool {
		tokens := req.Count(text)
		return tokens <= req.MaxTokens && tokens < req.Replaces
	}
	narrative := accepted
	if d.answer.CachedPrefix {
		// The agent's own prompt shows the quotes of the previous summary, and no indexes that the model could cite.
		narrative = summarizers.Stored(&req, extractive.WithoutQuotes(narrative, req.Sections))
	}
	narrative = d.attributed(ctx, extractive.CitedAtEnd(narrative), fits)
	// In the log, too, nothing that the model wrote reads as a tag or a role.
	if defused := quotation.Defuse(narrative); fits(defused) {
		narrative = defused
	}
	accepted = narrative
	narrative = d.marked(ctx, narrative, fits)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := w.contents.failed(); err != nil {
		return err
	}
	summary, err := d.quoting(ctx, &req, narrative)
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for _, text := range []string{summary, narrative} {
		if fits(text) {
			d.text = text
			break
		}
	}
	return nil
}

// quoting returns a narrative with quotes of what it leaves out. The text of a fold has none: what matters of a sub-task is
// how it ended.
func (d *draft) quoting(ctx context.Context, req *summarizers.Request, narrative string) (string, error) {
	if req.Kind == summarizers.Range {
		return narrative, nil
	}
	summary, faults, err := extractive.WithQuotes(ctx, d.writer.secrets.asRedacted(req), narrative)
	if err != nil {
		return "", err
	}
	for _, f := range faults {
		d.writer.report.leftOut(ctx, Fallback, f, len(faults))
	}
	return d.writer.secrets.replace(summary), nil
}

// attributed quotes what a narrative repeats from tools. Where that does not fit, and in the operator's voice, it is left
// out.
func (d *draft) attributed(ctx context.Context, narrative string, fits func(string) bool) string {
	c := attribution.New(narrative)
	for _, messages := range [][]*compactordv1.LoggedMessage{d.task.History, d.task.Prefix, d.writer.op.State.Lead} {
		for _, m := range messages {
			whole, err := d.writer.contents.message(m)
			if ctx.Err() != nil || err != nil {
				return narrative
			}
			c.ReadMessage(whole.GetMessage())
		}
	}
	for _, m := range d.writer.op.State.Instructions {
		c.ReadMessage(m)
	}
	c.ReadPrevious(d.task.Previous)
	if d.request.WithoutToolWords {
		return c.Without(quotation.LeftOut)
	}
	if quoted := c.Quoted(); fits(quoted) {
		return quoted
	}
	return c.Without("…")
}

// marked marks the names of a narrative that are not in the conversation, as far as it then still fits.
func (d *draft) marked(ctx context.Context, narrative string, fits func(string) bool) string {
	c := grounding.New(narrative)
	d.readSource(ctx, c)
	names := c.Unsupported()
	d.written.UnsupportedNames = uint32(names)
	for most := names; most > 0; most /= 2 {
		if text := c.Marked(most); fits(text) {
			return text
		}
	}
	return c.Marked(0)
}

// readSource reads all that the model may know: the conversation, what its prompt has beside it, and what the view shows
// beside the summary before.
func (d *draft) readSource(ctx context.Context, c *grounding.Checker) {
	state, policy := d.writer.op.State, d.writer.policy
	read := map[uint32]bool{}
	for _, messages := range [][]*compactordv1.LoggedMessage{
		d.task.History, d.task.Prefix, state.Lead, state.OutOfPlace, state.Kept,
	} {
		for _, m := range messages {
			if ctx.Err() != nil || read[m.GetIndex()] {
				continue
			}
			read[m.GetIndex()] = true
			whole, err := d.writer.contents.message(m)
			if err != nil {
				return
			}
			c.ReadMessage(whole.GetMessage())
		}
	}
	for _, m := range state.Beside() {
		c.ReadMessage(m)
	}
	c.Read(grounding.WithoutMarked(d.task.Previous))
	for _, text := range policy.GetExtraContext().GetTexts() {
		c.Read(text)
	}
	for _, h := range summarizers.Headings(d.request.Kind, d.request.Sections) {
		c.Read(h.Title)
	}
	c.Read(d.writer.op.Focus)
	c.Read(d.request.Guidelines)
	c.Read(policy.GetPromptOverride())
	c.Read(policy.GetToolsJson())
	for _, todo := range state.Entry.GetSlots().GetOpenTodos() {
		c.Read(todo.GetText())
	}
	c.Read(state.Entry.GetSlots().GetLastUserRequest().GetText())
	c.Read(strings.Join(state.Entry.GetFiles().GetRead(), "\n"))
	c.Read(strings.Join(state.Entry.GetFiles().GetModified(), "\n"))
}
