package summaries

import (
	"slices"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/wording"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/summarizers"
)

// shortenRequest returns the request for a shorter text of an edit's tool result.
func (w *Writer) shortenRequest(e *compactordv1.Edit) (*summarizers.Request, error) {
	l, err := w.contents.message(w.result(e))
	if err != nil {
		return nil, err
	}
	result, err := w.toolResult(e, l)
	if err != nil {
		return nil, err
	}
	state := w.op.State
	return w.request(&summarizers.Request{
		Kind: summarizers.Observation, Result: result,
		Replaces:  state.Scaled(l.GetTokens()),
		MaxTokens: max(minTokens, state.Scaled(l.GetTokens()-min(l.GetTokens(), e.GetTokensFreed()))),
	}), nil
}

// toolResult describes a result for the summarizer: all of its text as in the log, and a line for each other part.
func (w *Writer) toolResult(e *compactordv1.Edit, l *compactordv1.LoggedMessage) (*summarizers.ToolResult, error) {
	r := l.GetMessage().GetParts()[e.GetPart()].GetToolResult()
	lines := make([]string, len(r.GetParts()))
	for i, p := range r.GetParts() {
		switch k := p.GetKind().(type) {
		case *compactordv1.ResultPart_Media:
			lines[i] = wording.MediaLine(k.Media)
		case *compactordv1.ResultPart_Opaque:
			lines[i] = wording.ItemLine(k.Opaque)
		default:
			lines[i] = p.GetText().GetText()
		}
	}
	task, err := w.lastRequest()
	return &summarizers.ToolResult{
		Index: e.GetIndex(), Part: e.GetPart(), Tool: l.GetAnswers().GetName(), Argument: w.argumentOf(l.GetAnswers()),
		Text: strings.Join(lines, "\n"), Failed: r.GetIsError(), Guidelines: guidelines(w.op.Policy.GetStrategy(), ofResults),
		Task: task,
	}, err
}

// lastRequest returns what the user asked for last: of the kept messages, or else of those that the summary covers.
func (w *Writer) lastRequest() (string, error) { return w.requestBefore(len(w.op.State.Kept)) }

// requestBefore returns what the user asked for last before a position in the kept part.
func (w *Writer) requestBefore(position int) (string, error) {
	for _, l := range slices.Backward(w.op.State.Kept[:position]) {
		if !session.StartsTurn(l.GetMessage()) {
			continue
		}
		l, err := w.contents.message(l)
		if err != nil {
			return "", err
		}
		texts := make([]string, 0, len(l.GetMessage().GetParts()))
		for _, p := range l.GetMessage().GetParts() {
			texts = append(texts, p.GetText().GetText())
		}
		if said, _ := summarizers.Said(strings.Join(texts, "\n")); said != "" {
			return said, nil
		}
	}
	return w.op.State.Entry.GetSlots().GetLastUserRequest().GetText(), nil
}

// argumentOf returns the most telling argument of a call; empty where the call is not kept.
func (w *Writer) argumentOf(ref *compactordv1.CallRef) string {
	kept := w.op.State.Kept
	at := w.op.State.Position(ref.GetIndex())
	if at == len(kept) || kept[at].GetIndex() != ref.GetIndex() {
		return ""
	}
	return strategies.MainArgumentOf(w.op.State, kept[at], ref.GetPart())
}

// guidelines returns those of the first strategy that has some.
func guidelines(s *compactordv1.Strategy, of func(*compactordv1.Strategy) string) string {
	for nested := range strategies.All(s) {
		if found := of(nested); found != "" {
			return found
		}
	}
	return ""
}

func ofResults(s *compactordv1.Strategy) string { return s.GetCompressObservations().GetGuidelines() }

func ofFolds(s *compactordv1.Strategy) string { return s.GetFoldSubtasks().GetGuidelines() }
