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
	// asked is the caller's request, against which the summary is checked. req is a copy with the budget that the model
	// can keep.
	asked, req *summarizers.Request
	progress   summarizers.Progress
	budget     budget
	counter    counter
	tryLimit   time.Duration
	spent      spent
	// shown is the text since the last Again, and read the highest number of tokens reported to Progress.Read.
	shown strings.Builder
	read  uint32
	// cachedPrefix says that the summary was written on the agent's own prompt.
	cachedPrefix bool
	// asText says why it was not; one of the AsText words.
	asText string
}

func (s *Summarizer) writer(req *summarizers.Request, progress summarizers.Progress) (*writer, error) {
	budget, err := divide(&s.profile, req.Kind, req.ModelBudget())
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

// write writes the summary on the agent's own prompt if the request asks for that and it is possible. Otherwise it
// sends the conversation as text.
func (w *writer) write(ctx context.Context) (string, error) {
	if w.onCachedPrefix() {
		text, err := w.writeOnPrefix(ctx)
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
	return w.writeAsText(ctx)
}

// writeAsText writes the summary with the conversation as text, in as many prompts as it needs.
func (w *writer) writeAsText(ctx context.Context) (string, error) {
	fold, err := prompts.Fold(w.req, prompts.Limits{PromptTokens: w.budget.prompt, Count: w.counter.text})
	if err != nil {
		return "", foldFailure(err)
	}
	answer := ""
	for {
		prompt, err := fold.Next(ctx)
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		if err != nil {
			return "", foldFailure(err)
		}
		if prompt == nil {
			return answer, nil
		}
		next, err := w.answer(ctx, prompt, answer)
		if isOverflow(err) && fold.Halve() {
			continue
		}
		if err != nil {
			return "", err
		}
		w.reportRead(prompt.Read)
		answer = next
	}
}

// answer returns the model's answer to one prompt, which continues from the answer before.
func (w *writer) answer(ctx context.Context, p *prompts.Prompt, before string) (string, error) {
	user, tokens := p.User(before), p.Tokens
	if p.GoesOn {
		// p.Tokens counts all but the answer before, which is shown between the two texts.
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

// intermediate returns the request against which an answer is checked that only the next prompt continues from. It
// replaces nothing.
func (w *writer) intermediate(p *prompts.Prompt) *summarizers.Request {
	req := *w.req
	req.MaxTokens, req.Replaces = p.MaxTokens, summarizers.ReplacesNothing
	return &req
}

// foldFailure returns the error for the caller where no prompt could be made.
func foldFailure(err error) error {
	if errors.Is(err, prompts.ErrTooLarge) {
		return tooLarge(err)
	}
	return err
}

// tooLarge returns an overflow that was found before a request was sent.
func tooLarge(err error) error { return &summarizers.ProviderError{Overflow: true, Err: err} }

func isOverflow(err error) bool {
	var failure *summarizers.ProviderError
	return errors.As(err, &failure) && failure.Overflow
}

// reportRead reports how much of the conversation was read so far. The number never falls, even if a prompt is sent
// again.
func (w *writer) reportRead(tokens uint32) {
	if tokens > w.read {
		w.read = tokens
		w.progress.Read(tokens)
	}
}

// show passes text to the caller's progress.
func (w *writer) show(delta string) {
	if delta != "" {
		w.shown.WriteString(delta)
		w.progress.Text(delta)
	}
}

// void withdraws the text that was shown.
func (w *writer) void() {
	if w.shown.Len() > 0 {
		w.shown.Reset()
		w.progress.Again()
	}
}

// settle replaces the shown text if it differs from the final one, which may have been cleaned.
func (w *writer) settle(text string) {
	if w.shown.String() != text {
		w.void()
		w.show(text)
	}
}
