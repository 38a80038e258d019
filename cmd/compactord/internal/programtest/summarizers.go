package programtest

import (
	"context"

	"github.com/compactord/compactord/summarizers"
)

// Held is a summarizer that waits until its call is cancelled.
type Held struct{ Reached chan struct{} }

func (h *Held) Name() string { return "extractive" }

func (h *Held) Summarize(
	ctx context.Context, _ *summarizers.Request, _ summarizers.Progress,
) (*summarizers.Summary, error) {
	close(h.Reached)
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

// Panicking is a summarizer with a bug.
type Panicking struct{}

func (Panicking) Name() string { return "extractive" }

func (Panicking) Summarize(context.Context, *summarizers.Request, summarizers.Progress) (*summarizers.Summary, error) {
	panic("a bug")
}
