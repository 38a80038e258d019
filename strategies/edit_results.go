package strategies

import (
	"cmp"
	"context"
	"slices"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// Edits that shorten a tool result, based on the result and its call.

// toolResult is a result with its call: all that an edit depends on. Nothing around them matters, so that the same
// edits can be made when the result is appended.
type toolResult struct {
	logged *compactordv1.LoggedMessage
	result *compactordv1.ToolResult
	// shown is the result with the edits that views apply, and tokens is its size with them.
	shown  *compactordv1.ToolResult
	tokens uint32
	// call is the call that it answers; nil if that is unknown.
	call *callFacts
}

// resultOf returns a result without edits.
func resultOf(l *compactordv1.LoggedMessage, call *callFacts) *toolResult {
	result := l.GetMessage().GetParts()[0].GetToolResult()
	return &toolResult{logged: l, result: result, shown: result, tokens: l.GetTokens(), call: call}
}

// shownResult returns a result as views show it.
func shownResult(s *session.State, l *compactordv1.LoggedMessage) *toolResult {
	r := resultOf(l, callOf(s, l))
	shown, tokens := s.Shown(l)
	r.shown, r.tokens = shown.GetParts()[0].GetToolResult(), tokens
	return r
}

// tool returns the name of the tool that was called.
func (r *toolResult) tool() string { return toolOf(r.logged) }

// stays says whether results of this tool are protected.
func (r *toolResult) stays(protectedTools []string) bool {
	return protected(r.tool(), protectedTools)
}

// bytesOf returns the size of a result in bytes, with its media.
func bytesOf(r *compactordv1.ToolResult) int {
	var bytes int
	for _, rp := range r.GetParts() {
		bytes += len(rp.GetText().GetText()) + len(rp.GetMedia().GetData()) + len(rp.GetOpaque().GetJson())
	}
	return bytes
}

func (r *toolResult) replaced() replaced {
	return replaced{index: r.logged.GetIndex(), tokens: r.logged.GetTokens(), tool: r.tool()}
}

// resultEditor shortens results, based on the result and its call.
type resultEditor interface {
	// edit returns the edit of a result, or nil if the result stays. The caller checks whether the edit frees anything.
	edit(r *toolResult) *compactordv1.Edit
}

// planResults applies an editor to the results of those groups that are finished, the oldest first. The model has not
// read the results of an open group yet.
func planResults(
	ctx context.Context, in *Input, groups []session.Group, editor resultEditor,
) (*compactordv1.CompactionPlan, error) {
	e := newEditing(in.State)
	for pos, finished := range answersTo(in.State, groups) {
		if err := ended(ctx); err != nil {
			return nil, err
		}
		if l := in.State.Kept[pos]; finished && editable(in.State, l) {
			whole, err := in.State.Whole(ctx, l)
			if err != nil {
				return nil, err
			}
			e.try(editor.edit(shownResult(in.State, whole)), l)
		}
		if e.full() {
			break
		}
	}
	return e.plan(in), nil
}

// editable says whether a result may be shortened or hidden. One that is replaced whole may not: its only text says how
// to recall it, and hiding must come to an end.
func editable(s *session.State, l *compactordv1.LoggedMessage) bool {
	return !session.Pinned(s.Head, l.GetIndex()) && !s.ReplacedWhole(l)
}

// callOf returns the call that a result answers, or nil if the kept part does not contain it.
func callOf(s *session.State, l *compactordv1.LoggedMessage) *callFacts {
	pos, kept := position(s, l.GetAnswers().GetIndex())
	if !kept {
		return nil
	}
	return callAt(s, s.Kept[pos], l.GetAnswers().GetPart())
}

// editing builds a plan of edits. Each edit is tried after those before it.
type editing struct {
	simulation *simulation
	edits      []*compactordv1.Edit
	// bytes is about the size of the edits.
	bytes int
}

func newEditing(s *session.State) *editing { return &editing{simulation: newSimulation(s)} }

// full says whether the plan accepts no more edits.
func (e *editing) full() bool { return e.bytes > maxPlanBytes }

// try adds an edit if it frees tokens in the messages that show it. It ignores a nil edit.
func (e *editing) try(edit *compactordv1.Edit, shownIn ...*compactordv1.LoggedMessage) bool {
	if edit == nil || e.emptiesStart(edit) {
		return false
	}
	if edit.TokensFreed = e.simulation.add(edit, shownIn...); edit.GetTokensFreed() == 0 {
		return false
	}
	e.add(edit)
	return true
}

// emptiesStart says whether an edit would leave nothing of the first message after a summary.
func (e *editing) emptiesStart(edit *compactordv1.Edit) bool {
	s := e.simulation.state
	return s.Entry != nil && e.simulation.empties(edit, s.Kept[0])
}

// add adds an edit that frees something.
func (e *editing) add(edit *compactordv1.Edit) {
	e.edits = append(e.edits, edit)
	e.bytes += len(edit.GetReplacement()) + editBytes
}

// plan returns the plan with its edits in the order of the log.
func (e *editing) plan(in *Input) *compactordv1.CompactionPlan {
	if len(e.edits) == 0 {
		return noop(in, compactordv1.SkipReason_SKIP_REASON_NOTHING_TO_COMPACT)
	}
	plan := noop(in, compactordv1.SkipReason_SKIP_REASON_UNSPECIFIED)
	plan.Edits = e.edits
	slices.SortStableFunc(plan.GetEdits(), func(a, b *compactordv1.Edit) int {
		return cmp.Compare(a.GetIndex(), b.GetIndex())
	})
	return plan
}
