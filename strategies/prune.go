package strategies

import (
	"context"
	"slices"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// Defaults of PruneToolOutputs: opencode's.
const (
	defaultProtectTurns  = 2
	defaultProtectTokens = 40_000
	defaultMinimumTokens = 20_000
)

// PruneToolOutputs hides the older tool results if that frees enough: what an agent read long ago it seldom needs word
// for word, and can recall.
type PruneToolOutputs struct{}

// Name returns `prune_tool_outputs`.
func (PruneToolOutputs) Name() string { return "prune_tool_outputs" }

// Plan returns a plan with edits, or one that does nothing.
func (s PruneToolOutputs) Plan(
	ctx context.Context, in *Input, parameters *compactordv1.Strategy,
) (*compactordv1.CompactionPlan, error) {
	p := s.Resolved(in.Policy, parameters).GetPruneToolOutputs()
	old, err := beyondProtection(ctx, in.State, p)
	if err != nil {
		return nil, err
	}
	h := newHiding(in.State, p.GetPlaceholder())
	for _, l := range slices.Backward(old) {
		if err := ended(ctx); err != nil {
			return nil, err
		}
		h.hide(l)
		// Also where the result is too short to be worth hiding: writing a file takes long arguments and answers with a word.
		if p.GetClearArguments() {
			h.clear(l.GetAnswers())
		}
		if h.full() {
			break
		}
	}
	return h.plan(in, p.GetMinimumTokens()), nil
}

// beyondProtection returns the results that lie beyond what is protected, the newest first.
func beyondProtection(
	ctx context.Context, s *session.State, p *compactordv1.PruneToolOutputsStrategy,
) ([]*compactordv1.LoggedMessage, error) {
	protectTokens := uint64(s.Stored(p.GetProtectTokens()))
	finished := unprotected(s, p)
	var old []*compactordv1.LoggedMessage
	var sum uint64
	for pos, l := range slices.Backward(s.Kept) {
		if err := ended(ctx); err != nil {
			return nil, err
		}
		if !finished[pos] || !prunable(s, l, p.GetProtectedTools()) {
			continue
		}
		_, shown := s.Shown(l)
		if sum += uint64(shown); sum > protectTokens {
			old = append(old, l)
		}
	}
	return old, nil
}

// unprotected marks the positions of the results of finished groups older than the protected turns or groups.
func unprotected(s *session.State, p *compactordv1.PruneToolOutputsStrategy) []bool {
	if p.ProtectGroups != nil {
		return answersTo(s, allBut(s.Groups(), p.GetProtectGroups()))
	}
	marks := answersTo(s, s.Groups())
	if turns := p.GetProtectTurns(); turns > 0 {
		clear(marks[recentTurns(s, turns):])
	}
	return marks
}

// prunable is hideable, errors aside, which the agent must not run into again.
func prunable(s *session.State, l *compactordv1.LoggedMessage, protectedTools []string) bool {
	return !l.GetMessage().GetParts()[0].GetToolResult().GetIsError() && hideable(s, l, protectedTools)
}
