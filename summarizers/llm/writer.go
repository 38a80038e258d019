package llm

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/prompts"
)

// writer writes one summary.
type writer struct {
	by *Summarizer
	// asked is the request as it came, by which the summary is checked; req the same with what the model can write.
	asked, req *summarizers.Request
	progress   summarizers.Progress
	budget     budget
	counter    counter
	tryLimit   time.Duration
	spent      spent
	// shown is the text since the last Again, and read the most that was told to be read.
	shown strings.Builder
	read  uint32
	// cachedPrefix says that the summary was written on the agent's own prompt.
	cachedPrefix bool
	// asText is why it was not.
	asText string
}

func (s *Summarizer) writer(req *summarizers.Request, progress summarizers.Progress) (*writer, error) {
	budget, err := divide(&s.profile, req.Kind, req.MaxTokens)
	if err != nil {
		return nil, tooLarge(err)
	}
	counter, err := newCounter(&s.profile)
	if err != nil {
		return nil, err
	}
	lowered := *req
	lowered.MaxTokens = budget.answer
	w := &writer{
		by: s, asked: req, req: &lowered, progress: progress, budget: budget, counter: counter, tryLimit: req.TryTimeout,
	}
	if w.tryLimit <= 0 {
		w.tryLimit = s.profile.TryTimeout
	}
	return w, nil
}

// write writes the summary: on the agent's own prompt where that is asked for and can be done, else on the conversation
// as text.
func (w *writer) write(ctx context.Context) (string, error) {
	if w.rides() {
		text, err := w.ride(ctx)
		switch {
		case err == nil:
			w.cachedPrefix = true
			return text, nil
		case ctx.Err() != nil:
			return "", context.Cause(ctx)
		case !asTextInstead(err):
			return "", err
		}
		w.asText = whyAsText(err)
	}
	return w.fold(ctx)
}

// fold writes the summary on the conversation as text, by as many prompts as it takes.
func (w *writer) fold(ctx context.Context) (string, error) {
	folding, err := prompts.Fold(w.req, prompts.Limits{PromptTokens: w.budget.prompt, Count: w.counter.text})
	if err != nil {
		return "", foldingFailure(err)
	}
	answer := ""
	for {
		prompt, err := folding.Next(ctx)
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		if err != nil {
			return "", foldingFailure(err)
		}
		if prompt == nil {
			return answer, nil
		}
		next, err := w.answer(ctx, prompt, answer)
		if isOverflow(err) && folding.Halve() {
			continue
		}
		if err != nil {
			return "", err
		}
		w.tellRead(prompt.Read)
		answer = next
	}
}

// answer has one prompt answered that goes on from an answer.
func (w *writer) answer(ctx context.Context, p *prompts.Prompt, before string) (string, error) {
	user, tokens := p.User(before), p.Tokens
	if p.GoesOn {
		// All but the answer is counted, and what is shown of that stands between the two texts.
		tokens += w.counter.text(user[len(p.BeforeAnswer) : len(user)-len(p.Text)])
	}
	req := w.asked
	if !p.Final {
		req = w.intermediate(p)
	}
	return w.ask(ctx, &question{
		completion: &Completion{System: p.System, User: user, Effort: w.budget.effort(&w.by.profile, w.req.Kind)},
		tokens:     tokens, output: w.budget.outputFor(p.MaxTokens), req: req,
	})
}

// intermediate is what an answer is checked by that only the next prompt goes on from: it replaces nothing.
func (w *writer) intermediate(p *prompts.Prompt) *summarizers.Request {
	req := *w.req
	req.MaxTokens, req.Replaces = p.MaxTokens, summarizers.ReplacesNothing
	return &req
}

// foldingFailure is why there is no prompt.
func foldingFailure(err error) error {
	if errors.Is(err, prompts.ErrTooLarge) {
		return tooLarge(err)
	}
	return err
}

// tooLarge is an overflow that was seen before anything was sent.
func tooLarge(err error) error { return &summarizers.ProviderError{Overflow: true, Err: err} }

func isOverflow(err error) bool {
	var failure *summarizers.ProviderError
	return errors.As(err, &failure) && failure.Overflow
}

// tellRead says how much has been taken in. It never falls, whatever has to be asked again.
func (w *writer) tellRead(tokens uint32) {
	if tokens > w.read {
		w.read = tokens
		w.progress.Read(tokens)
	}
}

// show hands on text.
func (w *writer) show(delta string) {
	if delta != "" {
		w.shown.WriteString(delta)
		w.progress.Text(delta)
	}
}

// void takes back what was shown.
func (w *writer) void() {
	if w.shown.Len() > 0 {
		w.shown.Reset()
		w.progress.Again()
	}
}

// settle sees to it that what was shown is the text: a model's text may have been cleaned.
func (w *writer) settle(text string) {
	if w.shown.String() != text {
		w.void()
		w.show(text)
	}
}
