package strategies

import (
	"cmp"
	"context"
	"slices"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// Edits that show a tool result shorter, by what the result and its call hold.

// toolResult is a result with its call: all that an edit is made from. Nothing around them counts, so that the same edits can
// be made when the result is appended.
type toolResult struct {
	logged *compactordv1.LoggedMessage
	result *compactordv1.ToolResult
	// shown is the result by the edits that views show it by, and tokens what it then has.
	shown  *compactordv1.ToolResult
	tokens uint32
	// call is what it answers; nil where that is not known.
	call *compactordv1.ToolCall
}

// resultOf is a result that no edit has been made of.
func resultOf(l *compactordv1.LoggedMessage, call *compactordv1.ToolCall) *toolResult {
	result := l.GetMessage().GetParts()[0].GetToolResult()
	return &toolResult{logged: l, result: result, shown: result, tokens: l.GetTokens(), call: call}
}

// shownResult is a result as views show it.
func shownResult(s *session.State, l *compactordv1.LoggedMessage) *toolResult {
	r := resultOf(l, callOf(s, l))
	shown, tokens := s.Shown(l)
	r.shown, r.tokens = shown.GetParts()[0].GetToolResult(), tokens
	return r
}

// tool is the name of the tool that was called.
func (r *toolResult) tool() string { return toolOf(r.logged) }

// stays says whether the result is of a tool whose results are left alone.
func (r *toolResult) stays(protectedTools []string) bool {
	return protected(r.tool(), protectedTools)
}

// bytesOf is what a result holds, media included.
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

// resultEditor says how a result is shown shorter, by what that result and its call hold.
type resultEditor interface {
	// edit returns the edit of a result; nil where the result stays. Whether the edit frees anything is for the caller to
	// see.
	edit(r *toolResult) *compactordv1.Edit
}

// planResults edits the results that an editor shows shorter, the older first: those of finished groups, since what an
// open one has so far nobody has read yet.
func planResults(ctx context.Context, in *Input, editor resultEditor) (*compactordv1.CompactionPlan, error) {
	e := newEditing(in.State)
	for pos, finished := range answersTo(in.State, in.State.Groups()) {
		if err := ended(ctx); err != nil {
			return nil, err
		}
		if l := in.State.Kept[pos]; finished && editable(in.State, l) {
			e.try(editor.edit(shownResult(in.State, l)), l)
		}
		if e.full() {
			break
		}
	}
	return e.plan(in), nil
}

// editable says whether a result may be shown shorter. One that is put away has nothing left but the text that says how to
// recall it.
func editable(s *session.State, l *compactordv1.LoggedMessage) bool {
	return !session.Pinned(s.Head, l.GetIndex()) && !s.ReplacedWhole(l)
}

// callOf is the call that a result answers; nil where the kept part does not hold it.
func callOf(s *session.State, l *compactordv1.LoggedMessage) *compactordv1.ToolCall {
	pos, kept := position(s, l.GetAnswers().GetIndex())
	if !kept {
		return nil
	}
	return s.Kept[pos].GetMessage().GetParts()[l.GetAnswers().GetPart()].GetToolCall()
}

// editing is a plan of edits while it is made, each tried with those before it.
type editing struct {
	simulation *simulation
	edits      []*compactordv1.Edit
	// bytes is about what the edits take up.
	bytes int
}

func newEditing(s *session.State) *editing { return &editing{simulation: newSimulation(s)} }

// full says whether the plan takes no more edits.
func (e *editing) full() bool { return e.bytes > maxPlanBytes }

// try adds an edit where it frees anything in the messages that it shows in. None is nothing to add.
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

// emptiesStart says whether an edit would leave nothing of the message that the kept part begins with after a summary.
func (e *editing) emptiesStart(edit *compactordv1.Edit) bool {
	s := e.simulation.state
	return s.Entry != nil && e.simulation.empties(edit, s.Kept[0])
}

// add adds an edit that is known to free something.
func (e *editing) add(edit *compactordv1.Edit) {
	e.edits = append(e.edits, edit)
	e.bytes += len(edit.GetReplacement()) + editBytes
}

// plan is what was edited, in the order of the log.
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
