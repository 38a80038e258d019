package summaries

import (
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/wording"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/summarizers"
)

// foldRequest returns the request for the text of a fold. The line above the text takes room, too: text and line together
// must be smaller than what views show of the messages.
func (w *Writer) foldRequest(e *compactordv1.Edit) (*summarizers.Request, error) {
	state, messages := w.op.State, strategies.Folded(w.op.State, e)
	task, err := w.taskOf(messages)
	if err != nil {
		return nil, err
	}
	line := session.TextTokens(state.ModelCounter(), wording.Fold(e.GetFoldStart(), e.GetFoldEnd(), ""))
	without := func(stored uint32) uint32 { return state.Scaled(stored) - min(state.Scaled(stored), line) }
	return w.request(&summarizers.Request{
		Kind: summarizers.Range, Messages: messages, Contents: w.contents.forRequests(), Lead: state.LeadInForce(),
		Beside: state.Beside(), Task: task, Guidelines: guidelines(w.op.Policy.GetStrategy(), ofFolds),
		MaxTokens: max(minTokens, without(strategies.FoldTextBudget(state, e))),
		Replaces:  without(strategies.FoldedTokens(state, e)),
	}), nil
}

// taskOf returns the user's request that messages serve; empty where they begin with one.
func (w *Writer) taskOf(messages []*compactordv1.LoggedMessage) (string, error) {
	if session.StartsTurn(messages[0].GetMessage()) {
		return "", nil
	}
	return w.requestBefore(w.op.State.Position(messages[0].GetIndex()))
}
