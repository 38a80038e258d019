package service

import (
	"context"
	"errors"
	"strings"
	"time"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/prompts"
)

// clientAnswers is the summarizer that the client's own model is: its texts are there already. It writes each once, so
// what is refused is not asked for again.
type clientAnswers struct {
	texts []string
	model string
	// prompted says that the texts answer our prompts, and cached that those stood on the agent's own.
	prompted, cached bool
	// given is how many texts were taken.
	given int
}

// Name implements Summarizer.
func (*clientAnswers) Name() string { return summarizers.Client }

// Timeouts implements Persistent: nothing is waited for.
func (*clientAnswers) Timeouts() (try, total time.Duration) { return 0, 0 }

// Summarize hands out the next of the texts.
func (a *clientAnswers) Summarize(
	_ context.Context, req *summarizers.Request, _ summarizers.Progress,
) (*summarizers.Summary, error) {
	if a.given >= len(a.texts) {
		return nil, errors.New("the client wrote fewer texts than are needed")
	}
	text := a.texts[a.given]
	a.given++
	written := &summarizers.Summary{Model: a.model}
	if a.prompted {
		cleaned, err := prompts.Cleaned(req, text)
		if err != nil {
			return nil, err
		}
		text = cleaned
		written.PromptVersion, written.CachedPrefix = prompts.Version, a.cached && req.Kind != summarizers.Observation
	}
	if req.Kind == summarizers.Observation && strings.TrimSpace(text) == "" {
		return nil, &skip{compactordv1.SkipReason_SKIP_REASON_NO_GAIN, "the client has left this result as it is"}
	}
	written.Text = text
	return written, nil
}

// ofModel is a summarizer that writes beside what a model made, which is told with the text.
type ofModel struct {
	summarizers.Summarizer
	model string
}

// Summarize implements Summarizer.
func (o *ofModel) Summarize(
	ctx context.Context, req *summarizers.Request, progress summarizers.Progress,
) (*summarizers.Summary, error) {
	written, err := o.Summarizer.Summarize(ctx, req, progress)
	if written != nil {
		written.Model = o.model
	}
	return written, err
}
