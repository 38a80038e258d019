package llm

import (
	"context"
	"time"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/prompts"
)

const (
	defaultTries       = 4
	maxTries           = 10
	defaultConcurrency = 4
	maxConcurrency     = 32
)

// Summarizer lets one model write summaries. It is safe for concurrent use.
type Summarizer struct {
	profile  Profile
	provider Provider
	after    func(time.Duration) <-chan time.Time
}

var (
	_ summarizers.Persistent = (*Summarizer)(nil)
	_ summarizers.Concurrent = (*Summarizer)(nil)
	_ summarizers.Estimator  = (*Summarizer)(nil)
	_ summarizers.Describer  = (*Summarizer)(nil)
	_ summarizers.Piecewise  = (*Summarizer)(nil)
)

// Option changes a Summarizer.
type Option func(*Summarizer)

// WithTimer replaces the clock for the waits before a request is sent again: such a wait ends when the channel that
// after returns receives. It is for tests.
func WithTimer(after func(time.Duration) <-chan time.Time) Option {
	return func(s *Summarizer) { s.after = after }
}

// New returns the summarizer of a profile. The provider sends its requests.
func New(profile Profile, provider Provider, opts ...Option) *Summarizer {
	s := &Summarizer{profile: profile, provider: provider, after: time.After}
	if s.profile.Window == 0 {
		s.profile.Window = defaultWindow
	}
	if s.profile.Tries <= 0 {
		s.profile.Tries = defaultTries
	}
	s.profile.Tries = min(s.profile.Tries, maxTries)
	if s.profile.Concurrency <= 0 {
		s.profile.Concurrency = defaultConcurrency
	}
	s.profile.Concurrency = min(s.profile.Concurrency, maxConcurrency)
	for _, opt := range opts {
		opt(s)
	}
	return s
}

// Name returns the summarizer's name in policies.
func (s *Summarizer) Name() string { return s.profile.Name }

// Timeouts returns the profile's limits.
func (s *Summarizer) Timeouts() (try, total time.Duration) {
	return s.profile.TryTimeout, s.profile.TotalTimeout
}

// Concurrency returns the profile's limit.
func (s *Summarizer) Concurrency() int { return s.profile.Concurrency }

// Piecewise implements summarizers.Piecewise.
func (*Summarizer) Piecewise() {}

// Describe describes the profile.
func (s *Summarizer) Describe() *compactordv1.SummarizerInfo {
	return &compactordv1.SummarizerInfo{
		Name: s.profile.Name, Kind: s.profile.Kind, Model: s.profile.Model, ContextWindow: s.profile.Window,
		MaxOutputTokens: s.profile.MaxOutput, Dialect: s.provider.Dialect(), Price: proto.CloneOf(s.profile.Price),
	}
}

// Summarize lets the model write a summary.
func (s *Summarizer) Summarize(
	ctx context.Context, req *summarizers.Request, progress summarizers.Progress,
) (*summarizers.Summary, error) {
	w, err := s.writer(req, progress)
	if err != nil {
		return nil, err
	}
	text, err := w.write(ctx)
	summary := &summarizers.Summary{
		Model: w.spent.model, Usage: w.spent.usage, CostUSD: cost(s.profile.Price, w.spent.usage), Calls: w.spent.calls,
		PromptVersion: prompts.Version, CachedPrefix: w.cachedPrefix, AsText: w.asText,
		Retries: w.spent.retries, Rejected: w.spent.rejected,
	}
	if err != nil {
		return summary, err
	}
	summary.Text = text
	return summary, nil
}
