package summaries

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/prompts"
)

// errLeftUnchanged says that the client wants to leave as it is what the text of an edit would replace.
var errLeftUnchanged = errors.New("the client has left this part of the view as it is")

// ClientTexts is the summarizer for texts that the client's own model has already written. Each text exists once, so
// after a refusal there is no second try.
type ClientTexts struct {
	// Texts are in the order of writing: first those of edits, then the parts of the summary. An empty text leaves as
	// it is what an edit would replace.
	Texts []string
	Model string
	// Prompted says that the texts answer the daemon's prompts, and CachedPrefix that these followed the agent's own one.
	Prompted, CachedPrefix bool

	used int
}

var (
	_ summarizers.Persistent = (*ClientTexts)(nil)
	_ summarizers.Piecewise  = (*ClientTexts)(nil)
)

// Used returns how many of the texts were used.
func (c *ClientTexts) Used() int { return c.used }

// Name implements Summarizer.
func (*ClientTexts) Name() string { return summarizers.Client }

// Timeouts implements Persistent. Both are 0, since the texts already exist.
func (*ClientTexts) Timeouts() (try, total time.Duration) { return 0, 0 }

// Piecewise implements summarizers.Piecewise: it reads no messages.
func (*ClientTexts) Piecewise() {}

// Summarize returns the next text.
func (c *ClientTexts) Summarize(
	_ context.Context, req *summarizers.Request, _ summarizers.Progress,
) (*summarizers.Summary, error) {
	if c.used >= len(c.Texts) {
		return nil, errors.New("the client wrote fewer texts than are needed")
	}
	text := c.Texts[c.used]
	c.used++
	written := &summarizers.Summary{Model: c.Model}
	if c.Prompted {
		cleaned, err := prompts.Cleaned(req, text)
		if err != nil {
			return nil, err
		}
		text = cleaned
		written.PromptVersion, written.CachedPrefix = prompts.Version, c.CachedPrefix
	}
	ofEdit := req.Kind == summarizers.Observation || req.Kind == summarizers.Range
	if ofEdit && strings.TrimSpace(text) == "" {
		return nil, errLeftUnchanged
	}
	written.Text = text
	return written, nil
}

// BesideModel returns a summarizer that writes beside the item of a model, and names that model as its own.
func BesideModel(by summarizers.Summarizer, model string) summarizers.Summarizer {
	return &besideModel{Summarizer: by, model: model}
}

type besideModel struct {
	summarizers.Summarizer
	model string
}

var _ summarizers.Piecewise = (*besideModel)(nil)

// Piecewise implements summarizers.Piecewise: Summarize gives the other summarizer what it can read.
func (*besideModel) Piecewise() {}

// Summarize implements Summarizer.
func (b *besideModel) Summarize(
	ctx context.Context, req *summarizers.Request, progress summarizers.Progress,
) (*summarizers.Summary, error) {
	req, err := readBy(b.Summarizer, req)
	if err != nil {
		return nil, err
	}
	written, err := b.Summarizer.Summarize(ctx, req, progress)
	if written != nil {
		written.Model = b.model
	}
	return written, err
}
