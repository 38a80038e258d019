// Package extractive writes summaries without a model. It picks the important sentences of a conversation, word for
// word, and cites the message of each line.
//
// The same request always gives the same summary: nothing but the request has an influence. The work is linear in the
// size of the conversation.
//
// The steps (digest.go): The previous summary is parsed into a ledger of items (previous*.go). Each message then adds
// items to the ledger, or resolves items in it (read*.go, decisions.go, nextsteps.go, orders.go, requests.go,
// corrections.go, pending.go). Cues say what a sentence is about (cues.go, phrases*.go, ideographs.go). The items are
// ranked (plan.go, goal.go), and share a part of the budget (class.go, budget.go, fit.go). Quotes get the rest: lines and
// names of the messages (gathering.go, evidence.go, package evidence). All is written under the headings (layout.go,
// render.go). A bug in one of these steps leaves something out, but does not fail the summary (guard.go, minimal.go).
package extractive

import (
	"context"
	"fmt"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
)

// Name is this summarizer's name in policies.
const Name = "extractive"

// Summarizer picks sentences out of conversations. It is safe for concurrent use.
type Summarizer struct {
	// probe is called before and after each guarded step. Only tests set it.
	probe probe
}

// New returns the summarizer.
func New() *Summarizer { return &Summarizer{} }

// Name returns its name in policies.
func (*Summarizer) Name() string { return Name }

// Piecewise implements summarizers.Piecewise.
func (*Summarizer) Piecewise() {}

// Describe describes it as a summarizer without a model.
func (*Summarizer) Describe() *compactordv1.SummarizerInfo {
	return &compactordv1.SummarizerInfo{Name: Name, Kind: Name}
}

// Summarize writes a summary of the messages, merged with the previous one, or a shorter tool result.
//
// A bug in reading a conversation does not keep it from being compacted. A step that panics is left out, the summary
// and Summary.Faults report that, and the other steps go on.
//
// The request's Refusal has no influence: with the same messages and budget this summarizer can only write the same text
// again. Its text has all sections and keeps to the budget at the first try.
func (s *Summarizer) Summarize(
	ctx context.Context, req *summarizers.Request, progress summarizers.Progress,
) (*summarizers.Summary, error) {
	g := &guard{probe: s.probe}
	if req.Kind == summarizers.Observation {
		return observe(ctx, g, req, progress)
	}
	pieces, err := s.digest(ctx, g, req, progress)
	if err != nil {
		return nil, err
	}
	for _, piece := range pieces {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		progress.Text(piece)
	}
	return &summarizers.Summary{Text: strings.Join(pieces, ""), Faults: g.faults}, nil
}

// digest writes a digest, and writes it again from redacted messages as long as it may hold a part of a secret.
func (s *Summarizer) digest(
	ctx context.Context, g *guard, req *summarizers.Request, progress summarizers.Progress,
) (pieces []string, err error) {
	req = withoutEarlier(withoutSecretsBefore(req))
	redacted := map[uint32]bool{}
	for pass := 1; ; pass++ {
		*g = guard{probe: s.probe}
		d := newDigest(g, req)
		if err := d.read(ctx, progress); err != nil {
			return nil, err
		}
		pieces, ok := d.write()
		if !ok {
			return nil, doesNotFit(req)
		}
		clean, changed := withoutSecretsIn(ctx, req, pass == maxPasses, strings.Join(pieces, ""), redacted)
		if !changed {
			return pieces, nil
		}
		req, progress = clean, rewriting{progress}
	}
}

// doesNotFit returns the error for a budget that is too small for a single line.
func doesNotFit(req *summarizers.Request) error {
	return &summarizers.CheckError{
		Check: summarizers.CheckBudget, Detail: fmt.Sprintf("No text fits into %d tokens.", req.MaxTokens),
	}
}
