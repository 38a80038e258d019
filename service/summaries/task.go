package summaries

import (
	"context"
	"slices"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/summarizers"
)

// turnSeparator joins the summary of complete turns with that of the turn that the cut splits.
const turnSeparator = "\n\n---\n\n# The turn in progress, up to the messages that follow\n\n"

// minTokens is the smallest budget of a request to a summarizer.
const minTokens = 64

// Task describes a summary to write. Its sizes are in tokens of the model.
type Task struct {
	// History is summarized as complete turns, Prefix as the first part of a turn that goes on after the summary. Each may
	// be empty.
	History, Prefix []*compactordv1.LoggedMessage
	// Kept are the messages after them, as the view shows them.
	Kept []*compactordv1.LoggedMessage
	// Whole asks for one text of both, whatever their sizes.
	Whole bool
	// Previous is the summary before, which this one continues; empty where there is none. PreviousSections are the
	// sections that it was asked to have; empty where they are not known.
	Previous         string
	PreviousSections []*compactordv1.Section
	// Earlier are the newest of the messages that Previous covers. They may be empty.
	Earlier []*compactordv1.LoggedMessage
	// MaxTokens is the summary's budget. Replaces is the size of what it replaces: the summary must be smaller.
	MaxTokens, Replaces uint32
	// AgentView is the agent's own prompt, which the prompt for one text of everything then follows; nil where the messages
	// are sent as text.
	AgentView *AgentView
}

// AgentView is the agent's own prompt.
type AgentView struct {
	// Outline is the neutral view of it, in which messages may be outlines.
	Outline *session.View
	// Read reads it, and returns its view for a dialect.
	Read func(ctx context.Context, dialect compactordv1.Dialect) (*session.View, error)
}

// textBytes returns the size of the prompt without its media.
func (v *AgentView) textBytes() int {
	bytes := 0
	for _, vm := range v.Outline.Messages {
		bytes += proto.Size(vm.GetMessage()) - int(session.MediaBytes(vm.GetMessage()))
	}
	return bytes
}

// part is one of the texts of a summary: one that exists already, or one to be written.
type part struct {
	text string
	// sections are those that the text is or was asked to have. The summary's are those of its first part.
	sections []*compactordv1.Section
	// request asks for the text; nil where the text exists already.
	request *summarizers.Request
}

// WriteRequests returns the requests that the summarizer gets for a summary.
func (w *Writer) WriteRequests(t *Task) []*summarizers.Request {
	var all []*summarizers.Request
	for _, p := range w.parts(t) {
		switch {
		case p.request == nil:
		case w.asksModel():
			all = append(all, narrativeRequest(p.request))
		default:
			all = append(all, p.request)
		}
	}
	return all
}

// parts returns the parts of a task's summary, in order.
func (w *Writer) parts(t *Task) []part {
	budgets := w.divide(t)
	if w.inOneText(t) || min(budgets.prefix, budgets.history) < minTokens {
		return []part{w.part(t, summarizers.History, slices.Concat(t.History, t.Prefix), t.MaxTokens)}
	}
	earlier := part{text: t.Previous, sections: t.PreviousSections}
	if len(t.History) > 0 || budgets.previous > budgets.history {
		earlier = w.part(t, summarizers.History, t.History, budgets.history)
		earlier.request.Following = t.Prefix
	}
	return []part{earlier, {text: turnSeparator}, w.part(t, summarizers.TurnPrefix, t.Prefix, budgets.prefix)}
}

// The two parts of a summary have a text each only where each is worth the second set of headings.
const (
	// partShare is the smallest share of all text, as a divisor.
	partShare = 5
	// fewMessages are too few for a text of their own by `extractive`, whatever their size: its choice is better over all
	// messages at once. A model reads so much for them that its own prompt for the turn is worth it.
	fewMessages = 3
)

// inOneText says whether one text covers the complete turns and the first part of the turn in progress.
func (w *Writer) inOneText(t *Task) bool {
	if t.Whole || t.AgentView != nil && w.asksModel() || len(t.Prefix) == 0 || len(t.History) == 0 && t.Previous == "" {
		return true
	}
	prefix := session.StoredTokens(t.Prefix)
	history := session.StoredTokens(t.History) + session.TextTokens(w.op.State.Counter, t.Previous)
	if w.asksModel() {
		return prefix < (prefix+history)/partShare
	}
	return len(t.History) == 0 || len(t.Prefix) <= fewMessages || min(prefix, history) < (prefix+history)/partShare
}

// budgets divide a summary's budget between the complete turns and the first part of the turn in progress.
type budgets struct {
	history, prefix uint32
	// previous is the size of the summary before.
	previous uint32
}

func (w *Writer) divide(t *Task) budgets {
	counter := w.op.State.ModelCounter()
	joined := t.MaxTokens - min(t.MaxTokens, max(strategies.JoinTokens, session.TextTokens(counter, turnSeparator)))
	b := budgets{previous: session.TextTokens(counter, t.Previous)}
	// The turn in progress gets 5/13, like the reserve fractions 0.5 and 0.8 of the systems that split turns.
	b.prefix = (joined*5 + 12) / 13
	b.history = joined - b.prefix
	if len(t.History) == 0 && b.previous > b.history && b.previous+minTokens <= joined {
		// The summary before stays as it is, so the turn gets the rest.
		b.history, b.prefix = b.previous, joined-b.previous
	}
	return b
}

// part returns a part with its request.
func (w *Writer) part(
	t *Task, kind summarizers.Kind, messages []*compactordv1.LoggedMessage, maxTokens uint32,
) part {
	req := &summarizers.Request{
		Kind: kind, Messages: messages, Lead: w.op.State.LeadInForce(), Beside: w.op.State.Beside(), Kept: t.Kept,
		Sections: w.policy.GetSections().GetSections(), MaxTokens: maxTokens, Replaces: t.Replaces,
		Contents:         w.contents.forRequests(),
		WithoutToolWords: w.policy.GetPlacement() == compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_SYSTEM,
	}
	if kind == summarizers.History {
		req.PreviousSummary, req.PreviousSections, req.Earlier = t.Previous, t.PreviousSections, t.Earlier
		if t.AgentView != nil && w.asksModel() {
			req.View = (&agentPrompt{writer: w, read: t.AgentView.Read}).render
			req.ViewBytes = t.AgentView.textBytes()
		}
	}
	return part{request: w.request(req), sections: req.Sections}
}
