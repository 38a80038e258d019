package evaluation

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/compactord/compactord/cmd/compactord/internal/futurereference"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive"
	"github.com/compactord/compactord/summarizers/redaction"
)

// writer writes what stands for the messages that a cut drops, within a budget. Several texts are several draws.
type writer struct {
	name, explanation string
	baseline          bool
	write             func(ctx context.Context, s *measured, cut futurereference.Cut, budget int) ([]string, error)
}

// writers returns the summarizers, then the baselines.
func (e *evaluator) writers() []writer {
	baselines := futurereference.Baselines()
	all := make([]writer, 0, len(e.Summarizers)+len(baselines))
	for _, name := range e.Summarizers {
		all = append(all, writer{name: name, explanation: "the summaries of this summarizer", write: e.summariesBy(name)})
	}
	for _, b := range baselines {
		all = append(all, writer{
			name: b.Name, explanation: b.Explanation, baseline: true,
			write: func(_ context.Context, s *measured, cut futurereference.Cut, budget int) ([]string, error) {
				return b.Views(s.log, cut, budget), nil
			},
		})
	}
	return all
}

// judge adds the scores of what a writer writes at those cuts where something is needed.
func (w *writer) judge(ctx context.Context, s *measured, cuts []neededAt, budget int, sum *tally) error {
	for _, cut := range cuts {
		if len(cut.needs) == 0 {
			continue
		}
		texts, err := w.write(ctx, s, cut.Cut, budget)
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		if err != nil {
			return fmt.Errorf("%s of %d tokens for %s, messages before %d: %w", w.name, budget, s.name, cut.FirstKept, err)
		}
		scores := make([]futurereference.Score, len(texts))
		for i, text := range texts {
			scores[i] = s.log.Score(text, cut.Cut, cut.needs)
		}
		sum.add(scores...)
	}
	return nil
}

// summariesBy lets a summarizer write as a compaction would: it sees the dropped messages, and knows the kept ones. The
// secrets in what a model is sent are replaced.
func (e *evaluator) summariesBy(name string) func(context.Context, *measured, futurereference.Cut, int) ([]string, error) {
	by, model := e.summarizer(name)
	return func(ctx context.Context, s *measured, cut futurereference.Cut, budget int) ([]string, error) {
		req := s.request(cut, budget)
		if model {
			req.Redact = redaction.New(s.name).Within(ctx)
		}
		written, err := by.Summarize(ctx, req, discard{})
		if err != nil {
			return nil, err
		}
		if len(written.Faults) > 0 {
			return nil, errors.New("a bug left out a part of the summary")
		}
		return []string{written.Text}, nil
	}
}

// summarizer returns a summarizer by its name, which was checked, and whether it is a model.
func (e *evaluator) summarizer(name string) (by summarizers.Summarizer, model bool) {
	for _, s := range e.app.Models {
		if s.Name() == name {
			return s, true
		}
	}
	if e.app.Summarizer != nil {
		return e.app.Summarizer, false
	}
	return extractive.New(), false
}

// Limits of the request to a summarizer, which are those of compactions.
const (
	inputChars = 2000
	tryTimeout = 2 * time.Minute
)

// request returns the request for a summary of the messages that a cut drops.
func (s *measured) request(cut futurereference.Cut, budget int) *summarizers.Request {
	lead := min(s.lead, cut.FirstKept)
	return &summarizers.Request{
		Messages: s.logged[lead:cut.FirstKept], Lead: s.logged[:lead], Kept: s.logged[cut.FirstKept:cut.End],
		MaxTokens: uint32(budget), Replaces: math.MaxUint32, Count: s.count, TryTimeout: tryTimeout,
		Input: summarizers.Input{ToolResultChars: inputChars, ToolArgumentChars: inputChars},
	}
}

// prepare counts the messages.
func (s *measured) prepare() error {
	counter, err := session.CounterFor(compactordv1.Estimator_ESTIMATOR_CHARS4)
	if err != nil {
		return err
	}
	s.count = func(text string) uint32 { return counter.Tokens(uint64(counter.TextSize(text))) }
	size := 0
	for i, m := range s.messages {
		leads := m.GetRole() == compactordv1.Role_ROLE_SYSTEM || m.GetRole() == compactordv1.Role_ROLE_DEVELOPER
		if m.GetRole() == compactordv1.Role_ROLE_ASSISTANT {
			s.growth.Sizes = append(s.growth.Sizes, size)
		}
		tokens := session.MessageTokens(counter, m)
		size += int(tokens)
		if leads && s.lead == i {
			s.lead, s.growth.Lead = i+1, size
		}
		s.logged = append(s.logged, &compactordv1.LoggedMessage{Index: uint32(i), Message: m, Tokens: tokens})
	}
	return nil
}

// discard ignores the progress of a summary.
type discard struct{}

func (discard) Read(uint32) {}
func (discard) Text(string) {}
func (discard) Again()      {}
