// Package extractive writes summaries without a model: it picks what matters out of a conversation, word for word, and
// says of each line which message it came from.
//
// The same request gives the same summary, whenever and wherever; nothing but the request is looked at. The work is
// linear in the size of the conversation.
//
// A request's life: the previous summary is parsed into a ledger of items (previous.go); each message then adds items
// to it, or resolves items that are in it (read*.go); the items are ranked (plan.go, goal.go) and the budget is shared
// out among them (budget.go); what was chosen is written under the headings (layout.go, render.go).
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

// Summarizer picks sentences out of conversations. It holds nothing and may be used by many at once.
type Summarizer struct{}

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
// The request's Fault is not looked at: with the same messages and budget this summarizer can only write the same text
// again, and what it writes has all sections and keeps to the budget at the first try.
func (*Summarizer) Summarize(
	ctx context.Context, req *summarizers.Request, progress summarizers.Progress,
) (*summarizers.Summary, error) {
	if req.Kind == summarizers.Observation {
		return observe(ctx, req, progress)
	}
	l := newLedger(req.Focus)
	l.carry(req.PreviousSummary)
	r := newReader(l, req)
	var taken uint64
	for _, m := range req.Messages {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		r.read(m)
		taken += uint64(m.GetTokens())
		progress.Read(uint32(min(taken, 1<<32-1)))
	}
	r.finish()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	pieces, ok := fit(l, layoutOf(req.Kind, req.Sections), req)
	if !ok {
		return nil, fmt.Errorf("no summary fits into %d tokens", req.MaxTokens)
	}
	for _, piece := range pieces {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		progress.Text(piece)
	}
	return &summarizers.Summary{Text: strings.Join(pieces, "")}, nil
}
