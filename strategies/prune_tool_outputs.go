package strategies

import (
	"context"
	"slices"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// Defaults of PruneToolOutputs, which are those of opencode.
const (
	defaultKeepTurns     = 2
	defaultKeepTokens    = 40_000
	defaultMinimumTokens = 20_000
)

// PruneToolOutputs hides older tool results if that frees enough. An agent rarely needs old results word for word, and
// can recall them.
type PruneToolOutputs struct{}

// Name returns `prune_tool_outputs`.
func (PruneToolOutputs) Name() string { return "prune_tool_outputs" }

// Plan returns a plan with edits, or one that does nothing.
func (s PruneToolOutputs) Plan(
	ctx context.Context, in *Input, parameters *compactordv1.Strategy,
) (*compactordv1.CompactionPlan, error) {
	p := s.Resolved(in.Policy, parameters).GetPruneToolOutputs()
	old, err := beyondKept(ctx, in.State, p)
	if err != nil {
		return nil, err
	}
	return planHiding(ctx, in, p, old)
}

// beyondKept returns the tool uses that are older than the kept ones. Beside the newest turns or groups, a number of
// tokens of results is kept. It also returns uses whose results cannot be hidden any more, since their arguments may be
// cleared.
func beyondKept(
	ctx context.Context, s *session.State, p *compactordv1.PruneToolOutputsStrategy,
) ([]toolUse, error) {
	keepTokens := uint64(s.Stored(p.GetKeepTokens()))
	older := olderAnswers(s, p)
	var uses []toolUse
	var sum uint64
	for pos, l := range slices.Backward(s.Kept) {
		if err := ended(ctx); err != nil {
			return nil, err
		}
		if !older[pos] || !prunable(l, p.GetProtectedTools()) {
			continue
		}
		if editable(s, l) {
			sum += uint64(s.ShownTokens(l))
		}
		if sum > keepTokens || keepTokens == 0 {
			uses = append(uses, useOf(l))
		}
	}
	slices.Reverse(uses)
	return uses, nil
}

// olderAnswers marks the positions of results of finished groups that are older than the kept turns or groups.
func olderAnswers(s *session.State, p *compactordv1.PruneToolOutputsStrategy) []bool {
	if p.KeepGroups != nil {
		return answersTo(s, allBut(s.Groups(), p.GetKeepGroups()))
	}
	marks := answersTo(s, s.Groups())
	clear(marks[beforeTurns(s, p.GetKeepTurns()):])
	return marks
}

// prunable says whether a strategy may prune the use of a result. The use of an error stays, so that the agent does not
// repeat its mistake.
func prunable(l *compactordv1.LoggedMessage, protectedTools []string) bool {
	return !l.GetMessage().GetParts()[0].GetToolResult().GetIsError() && !protected(toolOf(l), protectedTools)
}

// Resolved implements Resolver.
func (PruneToolOutputs) Resolved(
	_ *compactordv1.Policy, parameters *compactordv1.Strategy,
) *compactordv1.Strategy {
	p := &compactordv1.PruneToolOutputsStrategy{}
	if given := parameters.GetPruneToolOutputs(); given != nil {
		p = proto.CloneOf(given)
	}
	if p.KeepGroups == nil {
		fill(&p.KeepTurns, defaultKeepTurns)
	}
	fill(&p.KeepTokens, defaultKeepTokens)
	fill(&p.MinimumTokens, defaultMinimumTokens)
	fillHiding(&p.MinChars, &p.ClearArguments, &p.Placeholder)
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_PruneToolOutputs{PruneToolOutputs: p}}
}
