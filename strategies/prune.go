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

// maxPlanBytes bounds the edits of one plan, the oldest first, so that the answers that hold them fit into what clients
// take. What is left is for the next prune.
const maxPlanBytes = 1 << 20

// editBytes is about what an edit takes beside its replacement.
const editBytes = 32

// PruneToolOutputs hides the older tool results if that frees enough: what an agent read long ago it seldom needs word
// for word, and can recall.
type PruneToolOutputs struct{}

// Name returns `prune_tool_outputs`.
func (PruneToolOutputs) Name() string { return "prune_tool_outputs" }

// Plan returns a plan with edits, or one that does nothing.
func (PruneToolOutputs) Plan(
	ctx context.Context, in *Input, parameters *compactordv1.Strategy,
) (*compactordv1.CompactionPlan, error) {
	p := parameters.GetPruneToolOutputs()
	if p == nil {
		p = &compactordv1.PruneToolOutputsStrategy{}
	}
	old, err := beyondProtection(ctx, in.State, p)
	if err != nil {
		return nil, err
	}
	pr := pruning{state: in.State, parameters: p}
	for _, l := range slices.Backward(old) {
		if err := ended(ctx); err != nil {
			return nil, err
		}
		if pr.prune(l); pr.bytes > maxPlanBytes {
			break
		}
	}
	switch {
	case len(pr.edits) == 0:
		return noop(in, compactordv1.SkipReason_SKIP_REASON_NOTHING_TO_COMPACT), nil
	case pr.hidden <= uint64(in.State.Stored(value(p.MinimumTokens, defaultMinimumTokens))):
		return noop(in, compactordv1.SkipReason_SKIP_REASON_BELOW_MINIMUM), nil
	}
	plan := noop(in, compactordv1.SkipReason_SKIP_REASON_UNSPECIFIED)
	plan.Edits = pr.edits
	slices.SortStableFunc(plan.GetEdits(), func(a, b *compactordv1.Edit) int {
		return int(int64(a.GetIndex()) - int64(b.GetIndex()))
	})
	return plan, nil
}

// beyondProtection returns the results that lie beyond what is protected, the newest first.
func beyondProtection(
	ctx context.Context, s *session.State, p *compactordv1.PruneToolOutputsStrategy,
) ([]*compactordv1.LoggedMessage, error) {
	protectTokens := uint64(s.Stored(value(p.ProtectTokens, defaultProtectTokens)))
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
		if sum += uint64(l.GetTokens()); sum > protectTokens {
			old = append(old, l)
		}
	}
	return old, nil
}

// unprotected marks the positions of the results of finished groups older than the protected turns or groups. What an
// open group has so far nobody has read yet, and what a collapsed one had no view shows.
func unprotected(s *session.State, p *compactordv1.PruneToolOutputsStrategy) []bool {
	groups := s.Groups()
	end := len(s.Kept)
	if p.ProtectGroups != nil {
		groups = groups[:len(groups)-int(min(uint64(len(groups)), uint64(p.GetProtectGroups())))]
	} else if turns := value(p.ProtectTurns, defaultProtectTurns); turns > 0 {
		end = recentTurns(s, turns)
	}
	marks := make([]bool, len(s.Kept))
	for _, g := range groups {
		if g.Open || edited(s, s.Kept[g.Call].GetIndex(), 0, compactordv1.EditKind_EDIT_KIND_COLLAPSE_GROUP) {
			continue
		}
		for _, pos := range g.Results {
			marks[pos] = pos < end
		}
	}
	return marks
}

// prunable says whether a result may be hidden and counts as one that is there. One that is edited already is neither,
// so that pruning comes to an end; nor is an error, which the agent must not run into again, nor what it recalled.
func prunable(s *session.State, l *compactordv1.LoggedMessage, protectedTools []string) bool {
	r := l.GetMessage().GetParts()[0].GetToolResult()
	return !r.GetIsError() &&
		len(s.EditsOf(l)) == 0 &&
		!session.Pinned(s.Head, l.GetIndex()) &&
		!slices.Contains(protectedTools, l.GetAnswers().GetName()) &&
		!slices.Contains(recallTools, l.GetAnswers().GetName())
}

// pruning is a prune while it is planned.
type pruning struct {
	state      *session.State
	parameters *compactordv1.PruneToolOutputsStrategy
	trial      *trial
	edits      []*compactordv1.Edit
	// bytes is about what the edits take up.
	bytes int
	// hidden is what the hidden results and the cleared arguments hold in tokens.
	hidden uint64
}

// prune hides a result where that frees anything, and clears the arguments of its call where that is asked for: also of
// one whose result is too short to be worth hiding, since writing a file takes long arguments and answers with a word.
func (pr *pruning) prune(l *compactordv1.LoggedMessage) {
	pr.hide(l)
	if pr.parameters.GetClearArguments() {
		pr.clear(l.GetAnswers())
	}
}

// hide does without the trial: a prunable result is shown as the log has it, and there are many of them.
func (pr *pruning) hide(l *compactordv1.LoggedMessage) {
	template := hiddenResult
	if given := pr.parameters.GetPlaceholder(); given != "" {
		template = given
	}
	what := replaced{index: l.GetIndex(), tokens: l.GetTokens(), tool: l.GetAnswers().GetName()}
	text := what.fill(template)
	size := session.TextTokens(pr.state.Counter, text)
	if size >= l.GetTokens() {
		return
	}
	pr.hidden += uint64(l.GetTokens())
	pr.bytes += len(text) + editBytes
	pr.edits = append(pr.edits, &compactordv1.Edit{
		Index:       l.GetIndex(),
		Kind:        compactordv1.EditKind_EDIT_KIND_HIDE_RESULT,
		Replacement: text,
		TokensFreed: l.GetTokens() - size,
	})
}

func (pr *pruning) clear(call *compactordv1.CallRef) {
	pos, kept := position(pr.state, call.GetIndex())
	if !kept ||
		edited(pr.state, call.GetIndex(), call.GetPart(), compactordv1.EditKind_EDIT_KIND_TRUNCATE_ARGUMENTS) {
		return
	}
	l := pr.state.Kept[pos]
	arguments := l.GetMessage().GetParts()[call.GetPart()].GetToolCall().GetArguments()
	what := replaced{
		index: call.GetIndex(), part: call.GetPart(), tool: call.GetName(),
		tokens: session.TextTokens(pr.state.Counter, arguments),
	}
	e := &compactordv1.Edit{
		Index:       call.GetIndex(),
		Part:        call.GetPart(),
		Kind:        compactordv1.EditKind_EDIT_KIND_TRUNCATE_ARGUMENTS,
		Replacement: what.fillObject(clearedArguments),
	}
	if pr.trial == nil {
		pr.trial = newTrial(pr.state)
	}
	if e.TokensFreed = pr.trial.put(e, l); e.GetTokensFreed() > 0 {
		pr.hidden += uint64(what.tokens)
		pr.bytes += len(e.GetReplacement()) + editBytes
		pr.edits = append(pr.edits, e)
	}
}

// edited says whether an edit of that kind is in force.
func edited(s *session.State, index, part uint32, kind compactordv1.EditKind) bool {
	return slices.ContainsFunc(s.Edits[index], func(e *compactordv1.Edit) bool {
		return e.GetPart() == part && e.GetKind() == kind
	})
}

// value is a parameter, or its default where it is not set.
func value(given *uint32, otherwise uint32) uint32 {
	if given == nil {
		return otherwise
	}
	return *given
}
