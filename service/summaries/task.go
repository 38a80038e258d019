package summaries

import (
	"slices"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/summarizers"
)

// The texts that join the summary of complete turns and that of the turn that was cut.
const (
	noEarlierTurns = "(There were no earlier turns.)"
	turnSeparator  = "\n\n---\n\n# The turn in progress, up to the messages that follow\n\n"
)

// minTokens is the smallest budget that a summarizer is given.
const minTokens = 64

// Task is a summary to be written. Its sizes are in tokens of the model.
type Task struct {
	// History is summarized as complete turns, Prefix as the first part of a turn that goes on after the summary. Either
	// may be empty.
	History, Prefix []*compactordv1.LoggedMessage
	// Whole has one text be written of both.
	Whole bool
	// Previous is the summary of what came before, which this one takes in; empty where there is none. PreviousSections are
	// those that it was written with; empty where that is not known.
	Previous         string
	PreviousSections []*compactordv1.Section
	// MaxTokens is the most that the summary may have, and Replaces what it replaces: it must have fewer.
	MaxTokens, Replaces uint32
	// AgentView is the agent's own prompt, for the provider of a dialect, that one text of all is to be written on; nil
	// where the messages are to be sent as text.
	AgentView func(dialect compactordv1.Dialect) *session.View
}

// part is one of the texts that a summary consists of: one that is there already, or one that is to be written.
type part struct {
	text string
	// sections are those that the text is or was written with; nil for the first part of a turn.
	sections []*compactordv1.Section
	// request asks for the text; nil where it is there.
	request *summarizers.Request
}

// WriteRequests are what summarizers are asked for to write a summary.
func (w *Writer) WriteRequests(t *Task) []*summarizers.Request {
	var all []*summarizers.Request
	for _, p := range w.parts(t) {
		if p.request != nil {
			all = append(all, p.request)
		}
	}
	return all
}

// parts are what the summary of a task consists of, in order.
func (w *Writer) parts(t *Task) []part {
	budgets := w.divide(t)
	whole := t.Whole || t.AgentView != nil && w.asksModel()
	if whole || len(t.Prefix) == 0 || min(budgets.prefix, budgets.history) < minTokens {
		// A budget that is too small for two texts is for one of both.
		return []part{w.part(t, summarizers.History, slices.Concat(t.History, t.Prefix), t.MaxTokens)}
	}
	earlier := part{text: t.Previous, sections: t.PreviousSections}
	switch {
	case len(t.History) == 0 && t.Previous == "":
		budgets.prefix = budgets.joined
		earlier = part{text: noEarlierTurns, sections: w.policy.GetSections().GetSections()}
	case len(t.History) > 0 || budgets.previous > budgets.history:
		earlier = w.part(t, summarizers.History, t.History, budgets.history)
	}
	return []part{earlier, {text: turnSeparator}, w.part(t, summarizers.TurnPrefix, t.Prefix, budgets.prefix)}
}

// budgets are how the budget of a summary is divided between complete turns and the first part of the one in progress.
type budgets struct {
	history, prefix uint32
	// joined is what both have, without the texts that join them.
	joined uint32
	// previous is what the summary before takes as it is.
	previous uint32
}

func (w *Writer) divide(t *Task) budgets {
	counter := w.op.State.ModelCounter()
	joints := max(strategies.JoinTokens, session.TextTokens(counter, noEarlierTurns+turnSeparator))
	b := budgets{joined: t.MaxTokens - min(t.MaxTokens, joints), previous: session.TextTokens(counter, t.Previous)}
	// The turn in progress gets five of thirteen parts, as 0.5 and 0.8 of a reserve do in the systems that split.
	b.prefix = (b.joined*5 + 12) / 13
	b.history = b.joined - b.prefix
	if len(t.History) == 0 && b.previous > b.history && b.previous+minTokens <= b.joined {
		// What is there already goes on as it is, so the rest is all for the turn.
		b.history, b.prefix = b.previous, b.joined-b.previous
	}
	return b
}

// part asks for one of the texts.
func (w *Writer) part(
	t *Task, kind summarizers.Kind, messages []*compactordv1.LoggedMessage, maxTokens uint32,
) part {
	req := &summarizers.Request{
		Kind: kind, Messages: messages, Lead: w.op.State.Lead,
		Sections: w.policy.GetSections().GetSections(), MaxTokens: maxTokens, Replaces: t.Replaces,
	}
	if kind == summarizers.History {
		req.PreviousSummary, req.PreviousSections = t.Previous, t.PreviousSections
		if t.AgentView != nil && w.asksModel() {
			req.View = (&agentPrompt{writer: w, view: t.AgentView}).draw
		}
	}
	return part{request: w.request(req), sections: req.Sections}
}
