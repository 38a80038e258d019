package llm

import (
	"context"
	"errors"

	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/prompts"
)

// errPromptTooLong says that a prompt leaves too little of the window for its answer.
var errPromptTooLong = errors.New("the prompt does not fit the model's window")

// question is a request to the model, and what its answer is checked against.
type question struct {
	completion *Completion
	// tokens is the size of the completion, and output the most that the model may write, both in tokens of the model.
	tokens, output uint32
	// req is the request against which the answer is checked.
	req *summarizers.Request
}

// ask sends a question until an answer passes the checks, at most twice, and returns the text of the answer.
func (w *writer) ask(ctx context.Context, q *question) (string, error) {
	var text string
	err := summarizers.Insist(func(refused *summarizers.CheckError) error {
		asked := q
		if refused != nil {
			w.spent.rejected = append(w.spent.rejected, refused.Check)
			asked = w.again(q, refused)
		}
		var err error
		text, err = w.try(ctx, asked)
		return err
	})
	return text, err
}

// again returns the question with the reason for which its first answer was refused.
func (w *writer) again(q *question, refused *summarizers.CheckError) *question {
	again, completion := *q, *q.completion
	completion.User = prompts.WithRefusal(completion.User, refused.Detail)
	again.completion = &completion
	again.tokens += w.counter.text(prompts.WithRefusal("", refused.Detail))
	if refused.Check == summarizers.CheckCutOff {
		again.output = min(2*again.output, w.budget.most)
	}
	return &again
}

// try sends a question once. The error for a refused answer is a *summarizers.CheckError.
func (w *writer) try(ctx context.Context, q *question) (string, error) {
	left := w.budget.usable - min(w.budget.usable, q.tokens)
	if left < minOutput {
		return "", tooLarge(errPromptTooLong)
	}
	q.completion.MaxOutputTokens = min(q.output, left)
	answer, err := w.send(ctx, q.completion)
	if err != nil {
		return "", err
	}
	text, err := checked(q.req, answer)
	if err != nil {
		return "", err
	}
	w.settle(text)
	return text, nil
}

// checked returns the text of an answer in the form in which it is stored, if the answer passes the checks. It first
// checks what the provider says about the answer, then what is checked of every summary.
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
	return summarizers.Accept(req, &summarizers.Summary{Text: text})
}
