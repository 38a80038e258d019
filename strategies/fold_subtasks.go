package strategies

import (
	"context"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// Defaults of FoldSubtasks.
const (
	defaultKeepSubtasks  = 1
	defaultSubtaskTokens = 1_000
)

// FoldSubtasks folds each finished sub-task into a text by the summarizer, where it stands. What is bounded across turns
// is narrowed to the whole turns in it.
type FoldSubtasks struct{}

// Name returns `fold_subtasks`.
func (FoldSubtasks) Name() string { return "fold_subtasks" }

// Plan returns a plan with folds for the summarizer to write, or one that does nothing.
func (FoldSubtasks) Plan(
	ctx context.Context, in *Input, parameters *compactordv1.Strategy,
) (*compactordv1.CompactionPlan, error) {
	p := FoldSubtasks{}.Resolved(in.Policy, parameters).GetFoldSubtasks()
	s, e := in.State, newEditing(in.State)
	all := subtasksOf(in, p.GetBounds())
	for _, t := range all[:max(0, len(all)-int(p.GetKeepSubtasks()))] {
		if err := ended(ctx); err != nil {
			return nil, err
		}
		if r, ok := t.foldRange(s); ok && s.Scaled(e.simulation.foldedTokens(r.edits(s))) >= p.GetMinimumTokens() {
			e.tryFold(r, "")
		}
		if e.full() {
			break
		}
	}
	return e.plan(in), nil
}

// Resolved implements Resolver.
func (FoldSubtasks) Resolved(_ *compactordv1.Policy, parameters *compactordv1.Strategy) *compactordv1.Strategy {
	p := &compactordv1.FoldSubtasksStrategy{}
	if given := parameters.GetFoldSubtasks(); given != nil {
		p = proto.CloneOf(given)
	}
	if p.GetBounds() == compactordv1.SubtaskBounds_SUBTASK_BOUNDS_UNSPECIFIED {
		p.Bounds = compactordv1.SubtaskBounds_SUBTASK_BOUNDS_TODO_ITEMS.Enum()
	}
	fill(&p.KeepSubtasks, defaultKeepSubtasks)
	fill(&p.MinimumTokens, defaultSubtaskTokens)
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_FoldSubtasks{FoldSubtasks: p}}
}

// FoldsByCheckpoints says whether a strategy, or one that it nests, folds sub-tasks that checkpoints bound.
func FoldsByCheckpoints(s *compactordv1.Strategy) bool {
	for nested := range All(s) {
		if nested.GetFoldSubtasks().GetBounds() == compactordv1.SubtaskBounds_SUBTASK_BOUNDS_CHECKPOINTS {
			return true
		}
	}
	return false
}

// FoldsByTodos says whether a strategy, or one that it nests, folds sub-tasks that to-do lists bound.
func FoldsByTodos(s *compactordv1.Strategy) bool {
	for nested := range All(s) {
		p := nested.GetFoldSubtasks()
		if p != nil && p.GetBounds() != compactordv1.SubtaskBounds_SUBTASK_BOUNDS_CHECKPOINTS {
			return true
		}
	}
	return false
}

// subtasksOf returns the finished sub-tasks of the kept part, in order.
func subtasksOf(in *Input, bounds compactordv1.SubtaskBounds) []subtask {
	if bounds == compactordv1.SubtaskBounds_SUBTASK_BOUNDS_CHECKPOINTS {
		return subtasksByCheckpoints(in.State, in.Checkpoints)
	}
	return subtasksByTodos(in.State, in.TodosBefore)
}

// foldRange returns the part of a sub-task that can be folded. It returns false if there is none, and if all of it is
// folded already.
func (t subtask) foldRange(s *session.State) (foldRange, bool) {
	end := s.Kept[t.to-1].GetIndex() + 1
	r, err := foldRangeOf(s, s.Kept[t.from].GetIndex(), &end)
	if err != nil {
		return r, false
	}
	if !r.empty() && checkTurns(s, r) != nil {
		r = wholeTurns(s, r)
	}
	if r.empty() || checkFold(s, r) != nil {
		return r, false
	}
	for _, l := range s.Kept[r.from:r.to] {
		if !s.Folded(l) {
			return r, true
		}
	}
	return r, false
}

// wholeTurns returns the whole turns in a range.
func wholeTurns(s *session.State, r foldRange) foldRange {
	for !r.empty() && !session.StartsTurn(s.Kept[r.from].GetMessage()) {
		r.from++
	}
	for !r.empty() && !endsTurn(s, r.to) {
		r.to--
	}
	return r
}
