package service

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

// minSummaryTokens is the smallest budget that a summarizer is given.
const minSummaryTokens = 64

// piece is one of the texts that a summary consists of: one that is there already, or one that is to be written.
type piece struct {
	text string
	// request asks for the text; nil where it is there.
	request *summarizers.Request
}

// pieces are what the summary of a task consists of, in order.
func (t *task) pieces() []piece {
	// The turn in progress gets five of thirteen parts, as 0.5 and 0.8 of a reserve do in the systems that split.
	joined := max(strategies.JoinTokens, session.TextTokens(t.counter, noEarlierTurns+turnSeparator))
	left := t.budget - min(t.budget, joined)
	prefixBudget := (left*5 + 12) / 13
	historyBudget := left - prefixBudget
	passed := session.TextTokens(t.counter, t.previous)
	if len(t.history) == 0 && passed > historyBudget && passed+minSummaryTokens <= left {
		// What is there already goes on as it is, so the rest is all for the turn.
		historyBudget, prefixBudget = passed, left-passed
	}
	if t.whole || len(t.prefix) == 0 || min(prefixBudget, historyBudget) < minSummaryTokens {
		// A budget that is too small for two summaries is for one of both.
		return []piece{t.piece(summarizers.History, slices.Concat(t.history, t.prefix), t.previous, t.budget)}
	}
	earlier := t.piece(summarizers.History, t.history, t.previous, historyBudget)
	switch {
	case len(t.history) > 0:
	case t.previous == "":
		prefixBudget = left
		earlier = piece{text: noEarlierTurns}
	case passed <= historyBudget:
		earlier = piece{text: t.previous}
	}
	return []piece{earlier, {text: turnSeparator}, t.piece(summarizers.TurnPrefix, t.prefix, "", prefixBudget)}
}

// piece asks for one of the texts.
func (t *task) piece(
	kind summarizers.Kind, messages []*compactordv1.LoggedMessage, previous string, budget uint32,
) piece {
	req := &summarizers.Request{
		Kind: kind, Messages: messages, Lead: t.lead, PreviousSummary: previous, Focus: t.focus,
		Sections: t.policy.GetSummary().GetSections(), MaxTokens: budget, Replaces: t.covered,
	}
	if kind == summarizers.History {
		req.View = t.view
	}
	return piece{request: t.author.request(req, t.counter)}
}
