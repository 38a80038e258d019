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

// minCompressedTokens is the lowest budget for a shortened result, in stored tokens.
const minCompressedTokens = minSummaryTokens

// CompressObservations lets the summarizer shorten long tool results. The budget of each text is the result's tokens
// less the edit's tokens_freed.
type CompressObservations struct{}

// Name returns `compress_observations`.
func (CompressObservations) Name() string { return "compress_observations" }

// Plan returns a plan with edits for the summarizer to write, or one that does nothing.
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
		// The log's token count does not hold for an edited result.
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

// compress shortens one result if it has more than `over` tokens: to a quarter of them, and at most to `over`.
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

// compressedBudget returns the budget for shortening a result of this many tokens.
func compressedBudget(tokens, most uint32) uint32 {
	return max(minCompressedTokens, min(tokens/4, most))
}
