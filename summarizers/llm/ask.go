package llm

import (
	"context"
	"errors"

	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/prompts"
)

// errNoRoom says that a prompt leaves no room for its answer.
var errNoRoom = errors.New("the prompt does not fit the model's window")

// question is a request to the model whose answer is checked.
type question struct {
	completion *Completion
	// tokens is what the completion holds, and output the most that the model is to write; in tokens of the model.
	tokens, output uint32
	// req is what the answer is checked by.
	req *summarizers.Request
}

// ask has a question answered. An answer that is refused is asked for once more, with the fault named; then the refusal
// is final.
func (w *writer) ask(ctx context.Context, q *question) (string, error) {
	text, refused, err := w.try(ctx, q)
	if refused == nil || err != nil {
		return text, err
	}
	w.spent.rejected = append(w.spent.rejected, refused.Check)
	again := *q
	completion := *q.completion
	again.completion = &completion
	completion.User = prompts.WithFault(completion.User, refused.Detail)
	again.tokens += w.counter.text(prompts.WithFault("", refused.Detail))
	if refused.Check == summarizers.CheckCutOff {
		again.output = min(2*again.output, w.budget.most)
	}
	text, refused, err = w.try(ctx, &again)
	if refused != nil && err == nil {
		return "", refused
	}
	return text, err
}

// try has a question answered once, and says what the answer is refused for.
func (w *writer) try(ctx context.Context, q *question) (string, *summarizers.CheckError, error) {
	room := w.budget.usable - min(w.budget.usable, q.tokens)
	if room < minOutput {
		return "", nil, tooLarge(errNoRoom)
	}
	q.completion.MaxOutputTokens = min(q.output, room)
	answer, err := w.send(ctx, q.completion)
	if err != nil {
		return "", nil, err
	}
	text, err := checked(q.req, answer)
	var refused *summarizers.CheckError
	if errors.As(err, &refused) {
		return "", refused, nil
	} else if err != nil {
		return "", nil, err
	}
	w.settle(text)
	return text, nil, nil
}

// checked is the text of an answer that passes the checks, as it is stored: those of what the provider says of it, before
// anything is done with the text, then those of every summary.
func checked(req *summarizers.Request, a *Answer) (string, error) {
	switch {
	case a.ToolCall:
		return "", &summarizers.CheckError{Check: summarizers.CheckToolCall, Detail: "The answer is a tool call; only text is wanted."}
	case a.Refused:
		return "", &summarizers.CheckError{Check: summarizers.CheckErrorText, Detail: "The model or its provider declined to answer."}
	case a.CutOff:
		return "", &summarizers.CheckError{Check: summarizers.CheckCutOff, Detail: "The answer ends where the output limit was; a shorter one is wanted."}
	}
	text, err := prompts.Cleaned(req, summarizers.WithoutThinking(a.Text))
	if err != nil {
		return "", err
	}
	return summarizers.Stored(req, text), check(req, text)
}

// check makes the checks of every summary, and that it says something.
func check(req *summarizers.Request, text string) error {
	err := summarizers.Check(req, &summarizers.Summary{Text: text})
	if err == nil && req.Kind != summarizers.Observation && summarizers.SaysNothing(text) {
		return &summarizers.CheckError{Check: summarizers.CheckEmpty, Detail: "All sections of the summary are empty."}
	}
	var refused *summarizers.CheckError
	if req.PromptOverride != "" && errors.As(err, &refused) && refused.Check == summarizers.CheckSections {
		return nil
	}
	return err
}
