package strategies

import (
	"context"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// Defaults of CompressObservations.
const (
	defaultCompressTokens = 2_000
	defaultCompressGroups = 3
)

// minCompressedTokens is the least that the summarizer is asked to bring a result down to, in stored tokens.
const minCompressedTokens = minSummaryTokens

// CompressObservations has the summarizer write long tool results shorter. The budget of each text is what its edit leaves:
// the tokens of the result less the edit's tokens_freed.
type CompressObservations struct{}

// Name returns `compress_observations`.
func (CompressObservations) Name() string { return "compress_observations" }

// Plan returns a plan with edits that a summarizer is to write, or one that does nothing.
func (CompressObservations) Plan(
	ctx context.Context, in *Input, parameters *compactordv1.Strategy,
) (*compactordv1.CompactionPlan, error) {
	p := CompressObservations{}.Resolved(in.Policy, parameters).GetCompressObservations()
	s, e := in.State, newEditing(in.State)
	over := s.Stored(p.GetOverTokens())
	for pos, old := range answersTo(s, allBut(s.Groups(), p.GetKeepGroups())) {
		if err := ended(ctx); err != nil {
			return nil, err
		}
		// An edited one is not shown with the tokens that the log counts.
		if l := s.Kept[pos]; old && !session.Pinned(s.Head, l.GetIndex()) && len(s.EditsOf(l)) == 0 {
			compress(e, l, over)
		}
		if e.full() {
			break
		}
	}
	return e.plan(in), nil
}

// Resolved implements Resolver.
func (CompressObservations) Resolved(
	_ *compactordv1.Policy, parameters *compactordv1.Strategy,
) *compactordv1.Strategy {
	p := &compactordv1.CompressObservationsStrategy{}
	if given := parameters.GetCompressObservations(); given != nil {
		p = proto.CloneOf(given)
	}
	if p.OverTokens == nil {
		p.OverTokens = proto.Uint32(defaultCompressTokens)
	}
	if p.KeepGroups == nil {
		p.KeepGroups = proto.Uint32(defaultCompressGroups)
	}
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_CompressObservations{CompressObservations: p}}
}

// compress has one result written shorter if it holds over so many tokens: to a quarter of it, and at most to as many.
func compress(e *editing, l *compactordv1.LoggedMessage, over uint32) {
	budget := compressedBudget(l.GetTokens(), over)
	if l.GetTokens() <= over || l.GetTokens() <= budget || resultOf(l, nil).stays(nil) {
		return
	}
	e.add(&compactordv1.Edit{
		Index:        l.GetIndex(),
		Kind:         compactordv1.EditKind_EDIT_KIND_COMPRESS_RESULT,
		TokensFreed:  l.GetTokens() - budget,
		BySummarizer: true,
	})
}

// compressedBudget is what a result of so many tokens is to be written in.
func compressedBudget(tokens, most uint32) uint32 {
	return max(minCompressedTokens, min(tokens/4, most))
}
