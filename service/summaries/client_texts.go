package summaries

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/prompts"
)

// errLeftAsItIs says that the client wants a result shown as it is.
var errLeftAsItIs = errors.New("the client has left this result as it is")

// ClientTexts is the summarizer that the client's own model is: its texts are there already. It writes each once, so what
// is refused is not asked for again.
type ClientTexts struct {
	// Texts are in the order in which results and then the parts of the summary are written. An empty one leaves a result
	// as it is.
	Texts []string
	Model string
	// Prompted says that the texts answer our prompts, and CachedPrefix that those stood on the agent's own.
	Prompted, CachedPrefix bool

	taken int
}

var _ summarizers.Persistent = (*ClientTexts)(nil)

// Taken is how many of the texts were taken.
func (c *ClientTexts) Taken() int { return c.taken }

// Name implements Summarizer.
func (*ClientTexts) Name() string { return summarizers.Client }

// Timeouts implements Persistent: nothing is waited for.
func (*ClientTexts) Timeouts() (try, total time.Duration) { return 0, 0 }

// Summarize hands out the next of the texts.
func (c *ClientTexts) Summarize(
	_ context.Context, req *summarizers.Request, _ summarizers.Progress,
) (*summarizers.Summary, error) {
	if c.taken >= len(c.Texts) {
		return nil, errors.New("the client wrote fewer texts than are needed")
	}
	text := c.Texts[c.taken]
	c.taken++
	written := &summarizers.Summary{Model: c.Model}
	if c.Prompted {
		cleaned, err := prompts.Cleaned(req, text)
		if err != nil {
			return nil, err
		}
		text = cleaned
		written.PromptVersion, written.CachedPrefix = prompts.Version, c.CachedPrefix
	}
	if req.Kind == summarizers.Observation && strings.TrimSpace(text) == "" {
		return nil, errLeftAsItIs
	}
	written.Text = text
	return written, nil
}

// BesideModel is a summarizer that writes beside what a model made, which is told with the text.
func BesideModel(by summarizers.Summarizer, model string) summarizers.Summarizer {
	return &besideModel{Summarizer: by, model: model}
}

type besideModel struct {
	summarizers.Summarizer
	model string
}

// Summarize implements Summarizer.
func (b *besideModel) Summarize(
	ctx context.Context, req *summarizers.Request, progress summarizers.Progress,
) (*summarizers.Summary, error) {
	written, err := b.Summarizer.Summarize(ctx, req, progress)
	if written != nil {
		written.Model = b.model
	}
	return written, err
}
