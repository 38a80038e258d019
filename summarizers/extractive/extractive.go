// Package extractive writes summaries without a model: it picks what matters out of a conversation, word for word, and
// says of each line which message it came from.
//
// The same request gives the same summary, whenever and wherever; nothing but the request is looked at. The work is
// linear in the size of the conversation.
//
// A request's life (digest.go): the previous summary is parsed into a ledger of items (previous.go); each message then
// adds items to it, or resolves items that are in it (read*.go); the items are ranked (plan.go, goal.go) and the budget is
// shared out among them (budget.go); what was chosen is written under the headings (layout.go, render.go). A bug in any of
// that leaves something out and ends nothing (guard.go, minimal.go).
package extractive

import (
	"context"
	"fmt"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
)

// Name is what policies call this summarizer.
const Name = "extractive"

// Summarizer picks sentences out of conversations. It may be used by many at once.
type Summarizer struct {
	// probe is called before and after each step that may not fail; only tests set it.
	probe probe
}

// New returns the summarizer.
func New() *Summarizer { return &Summarizer{} }

// Name is what policies call it.
func (*Summarizer) Name() string { return Name }

// Describe says that it is no model.
func (*Summarizer) Describe() *compactordv1.SummarizerInfo {
	return &compactordv1.SummarizerInfo{Name: Name, Kind: Name}
}

// Summarize writes a summary of the messages, merged into the previous one, or a tool result shorter.
//
// No bug in reading a conversation may keep it from being compacted: what a panic ends is left out, told in the summary
// and in Summary.Faults, and the rest is written.
//
// The request's Fault is not looked at: with the same messages and budget this summarizer can only write the same text
// again, and what it writes has all sections and keeps to the budget at the first try.
func (s *Summarizer) Summarize(
	ctx context.Context, req *summarizers.Request, progress summarizers.Progress,
) (*summarizers.Summary, error) {
	g := &guard{probe: s.probe}
	if req.Kind == summarizers.Observation {
		return observe(ctx, g, req, progress)
	}
	d := newDigest(g, req)
	if err := d.read(ctx, progress); err != nil {
		return nil, err
	}
	pieces, ok := d.write()
	if !ok {
		return nil, doesNotFit(req)
	}
	for _, piece := range pieces {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		progress.Text(piece)
	}
	return &summarizers.Summary{Text: strings.Join(pieces, ""), Faults: g.faults}, nil
}

// doesNotFit refuses a budget that not even one line fits into.
func doesNotFit(req *summarizers.Request) error {
	return &summarizers.CheckError{
		Check: summarizers.CheckBudget, Detail: fmt.Sprintf("No text fits into %d tokens.", req.MaxTokens),
	}
}
