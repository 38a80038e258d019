package strategies

import (
	"slices"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/wording"
)

// maxPlanBytes bounds the edits of one plan, the oldest first, so that the answers that hold them fit into what clients
// take. What is left is for the next one.
const maxPlanBytes = 1 << 20

// editBytes is about what an edit takes beside its replacement.
const editBytes = 32

// hiding is a plan that hides results, and clears arguments of calls, while it is made. The oldest come first.
type hiding struct {
	state *session.State
	// template is the text in place of a result.
	template string
	trial    *trial
	edits    []*compactordv1.Edit
	// bytes is about what the edits take up.
	bytes int
	// held is what the view showed of the hidden results and the cleared arguments in tokens, freed what it is smaller by.
	held, freed uint64
}

func newHiding(s *session.State, placeholder string) *hiding {
	return &hiding{state: s, template: resultTemplate(placeholder)}
}

// resultTemplate is the given text in place of a result, or ours.
func resultTemplate(placeholder string) string {
	if placeholder == "" {
		return wording.HiddenResult
	}
	return placeholder
}

// full says whether the plan takes no more edits.
func (h *hiding) full() bool { return h.bytes > maxPlanBytes }

// hide hides a result, where that frees anything. The placeholder tells the tokens of the log's: so many are recalled.
func (h *hiding) hide(l *compactordv1.LoggedMessage) {
	_, shown := h.state.Shown(l)
	what := replaced{index: l.GetIndex(), tokens: l.GetTokens(), tool: toolOf(l)}
	e := &compactordv1.Edit{
		Index:       l.GetIndex(),
		Kind:        compactordv1.EditKind_EDIT_KIND_HIDE_RESULT,
		Replacement: what.fill(h.template),
	}
	if e.TokensFreed = h.freedBy(e, l, shown); e.GetTokensFreed() > 0 {
		h.add(shown, e)
	}
}

// freedBy does without the trial where it can: an answer is shown in so many tokens and nothing around it, and there are
// many.
func (h *hiding) freedBy(e *compactordv1.Edit, l *compactordv1.LoggedMessage, shown uint32) uint32 {
	if stray(l) {
		return h.tried().put(e, l)
	}
	return shown - min(shown, session.TextTokens(h.state.Counter, e.GetReplacement()))
}

// leastCleared is how many tokens arguments must be longer than what stands in for them. Tokens are counted for whole
// messages, so a difference of one comes and goes with what else is cleared of the message, and the next run would find
// something to do.
const leastCleared = 2

// clear clears the arguments of a call, where they are there and that frees anything.
func (h *hiding) clear(call *compactordv1.CallRef) {
	pos, kept := position(h.state, call.GetIndex())
	if !kept ||
		edited(h.state, call.GetIndex(), call.GetPart(), compactordv1.EditKind_EDIT_KIND_TRUNCATE_ARGUMENTS) {
		return
	}
	l := h.state.Kept[pos]
	arguments := l.GetMessage().GetParts()[call.GetPart()].GetToolCall().GetArguments()
	what := replaced{
		index: call.GetIndex(), part: call.GetPart(), tool: call.GetName(),
		tokens: session.TextTokens(h.state.Counter, arguments),
	}
	e := &compactordv1.Edit{
		Index:       call.GetIndex(),
		Part:        call.GetPart(),
		Kind:        compactordv1.EditKind_EDIT_KIND_TRUNCATE_ARGUMENTS,
		Replacement: what.fillObject(wording.ClearedArguments),
	}
	if what.tokens < session.TextTokens(h.state.Counter, e.GetReplacement())+leastCleared {
		return
	}
	if e.TokensFreed = h.tried().put(e, l); e.GetTokensFreed() > 0 {
		h.add(what.tokens, e)
	}
}

func (h *hiding) tried() *trial {
	if h.trial == nil {
		h.trial = newTrial(h.state)
	}
	return h.trial
}

func (h *hiding) add(held uint32, e *compactordv1.Edit) {
	h.held += uint64(held)
	h.freed += uint64(e.GetTokensFreed())
	h.bytes += len(e.GetReplacement()) + editBytes
	h.edits = append(h.edits, e)
}

// plan is what was hidden, in the order of the log: nothing where all of it holds no more than so many tokens, or where it
// is too soon after the last rewrite.
func (h *hiding) plan(in *Input, minimum uint32) *compactordv1.CompactionPlan {
	switch {
	case len(h.edits) == 0:
		return noop(in, compactordv1.SkipReason_SKIP_REASON_NOTHING_TO_COMPACT)
	case h.held <= uint64(h.state.Stored(minimum)), tooSoon(in, minimum):
		return noop(in, compactordv1.SkipReason_SKIP_REASON_BELOW_MINIMUM)
	}
	plan := noop(in, compactordv1.SkipReason_SKIP_REASON_UNSPECIFIED)
	plan.Edits = h.edits
	slices.SortStableFunc(plan.GetEdits(), func(a, b *compactordv1.Edit) int {
		return int(int64(a.GetIndex()) - int64(b.GetIndex()))
	})
	return plan
}

// tooSoon says whether less than so many tokens were appended since the view was last rewritten. Each rewrite costs the
// provider's prompt cache, so those that nobody asked for have to be worth it. What strategies before this one would do in
// the same plan is no rewrite of its own.
func tooSoon(in *Input, minimum uint32) bool {
	head := in.beginning().Head
	return in.Reason == compactordv1.CompactionReason_COMPACTION_REASON_THRESHOLD && head.RewrittenAtTokens != nil &&
		head.GetAppendedTokens()-head.GetRewrittenAtTokens() < session.Stored(head, minimum)
}

// hideable says whether a result may be hidden and counts as one that is there. One that is put away already is neither,
// so that hiding comes to an end and no text is lost that says how to have it back; nor is what the agent recalled.
func hideable(s *session.State, l *compactordv1.LoggedMessage, protectedTools []string) bool {
	return !session.Pinned(s.Head, l.GetIndex()) &&
		!s.PutAway(l) &&
		!slices.Contains(protectedTools, toolOf(l)) &&
		!isRecallTool(toolOf(l))
}

// toolOf is the tool that a result is of, as far as anything says so.
func toolOf(l *compactordv1.LoggedMessage) string {
	if !stray(l) {
		return l.GetAnswers().GetName()
	}
	if name := l.GetMessage().GetParts()[0].GetToolResult().GetName(); name != "" {
		return name
	}
	return "a tool"
}

// stray says whether a message is a result that answers no call, which views quote.
func stray(l *compactordv1.LoggedMessage) bool {
	return l.GetResultPlace() == compactordv1.ResultPlace_RESULT_PLACE_STRAY
}

// answersTo marks the positions of the results of groups. What an open group has so far nobody has read yet, and what a
// collapsed one had no view shows.
func answersTo(s *session.State, groups []session.Group) []bool {
	marks := make([]bool, len(s.Kept))
	for _, g := range groups {
		if g.Open || collapsed(s, g) {
			continue
		}
		for _, pos := range g.Results {
			marks[pos] = true
		}
	}
	return marks
}

func collapsed(s *session.State, g session.Group) bool {
	return edited(s, s.Kept[g.Call].GetIndex(), 0, compactordv1.EditKind_EDIT_KIND_COLLAPSE_GROUP)
}

// allBut are those that are older than the newest so many.
func allBut[T any](all []T, newest uint32) []T {
	return all[:len(all)-int(min(uint64(len(all)), uint64(newest)))]
}

// edited says whether an edit of that kind is in force.
func edited(s *session.State, index, part uint32, kind compactordv1.EditKind) bool {
	return slices.ContainsFunc(s.Edits[index], func(e *compactordv1.Edit) bool {
		return e.GetPart() == part && e.GetKind() == kind
	})
}
