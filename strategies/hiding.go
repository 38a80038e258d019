package strategies

import (
	"cmp"
	"context"
	"slices"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/wording"
)

// The four strategies that hide tool results differ in which results they select. The rest is the same for all of them and
// stands in this file: what is never hidden, what takes the place of a result and of arguments, and when hiding is worth it.

// maxPlanBytes bounds the edits of one plan, the oldest first, so that the answers that hold them fit into what clients
// take. What is left is for the next one.
const maxPlanBytes = 1 << 20

// editBytes is about what an edit takes beside its replacement.
const editBytes = 32

// hidingParameters are the parameters that all these strategies have, with their defaults filled in.
type hidingParameters interface {
	GetMinimumTokens() uint32
	GetMinChars() uint32
	GetProtectedTools() []string
	GetClearArguments() bool
	GetPlaceholder() string
}

// hidingOf returns the parameters that a strategy was given; false for one that hides no results.
func hidingOf(s *compactordv1.Strategy) (hidingParameters, bool) {
	switch k := s.GetKind().(type) {
	case *compactordv1.Strategy_HideToolResults:
		return k.HideToolResults, true
	case *compactordv1.Strategy_MaskObservations:
		return k.MaskObservations, true
	case *compactordv1.Strategy_PruneToolOutputs:
		return k.PruneToolOutputs, true
	case *compactordv1.Strategy_ClearToolUses:
		return k.ClearToolUses, true
	default:
		return nil, false
	}
}

// fillHiding sets those that are not given to their defaults. minimum_tokens has a default for each strategy.
func fillHiding(minChars **uint32, clearArguments **bool, placeholder **string) {
	fill(minChars, 0)
	fill(clearArguments, false)
	fill(placeholder, "")
	*placeholder = proto.String(cmp.Or(**placeholder, wording.HiddenResult))
}

// toolUse is a call with its result. A result that answers no call has none, and a call may have got no result.
type toolUse struct {
	call   *compactordv1.CallRef
	result *compactordv1.LoggedMessage
}

// useOf is the tool use that a result belongs to.
func useOf(result *compactordv1.LoggedMessage) toolUse {
	if stray(result) {
		return toolUse{result: result}
	}
	return toolUse{call: result.GetAnswers(), result: result}
}

func (u toolUse) tool() string {
	if u.call == nil {
		return toolOf(u.result)
	}
	return u.call.GetName()
}

// planHiding hides the results of the tool uses that a strategy selected, the oldest first, and clears the arguments of
// their calls where the parameters say so.
func planHiding(ctx context.Context, in *Input, p hidingParameters, uses []toolUse) (*compactordv1.CompactionPlan, error) {
	h := &hiding{state: in.State, parameters: p}
	for _, u := range uses {
		if err := ended(ctx); err != nil {
			return nil, err
		}
		if h.hide(u); h.full() {
			break
		}
	}
	return h.plan(in), nil
}

// hiding is a plan that hides results, and clears arguments of calls, while it is made.
type hiding struct {
	state      *session.State
	parameters hidingParameters
	simulation *simulation
	edits      []*compactordv1.Edit
	// bytes is about what the edits take up.
	bytes int
	// held is what the view showed of the hidden results and the cleared arguments in tokens.
	held uint64
}

// full says whether the plan takes no more edits.
func (h *hiding) full() bool { return h.bytes > maxPlanBytes }

// hide hides the result of a tool use. The arguments are cleared also where the result stays because it is short: writing a
// file takes long arguments, and is answered with a word.
func (h *hiding) hide(u toolUse) {
	if protected(u.tool(), h.parameters.GetProtectedTools()) {
		return
	}
	if u.result != nil && hideable(h.state, u.result) && hasCharacters(h.state, u.result, h.parameters.GetMinChars()) {
		h.hideResult(u.result)
	}
	if u.call != nil && h.parameters.GetClearArguments() {
		h.clearArguments(u.call)
	}
}

// hideResult hides a result, where that frees anything. The placeholder tells the tokens of the log's: so many are recalled.
func (h *hiding) hideResult(l *compactordv1.LoggedMessage) {
	_, shown := h.state.Shown(l)
	what := replaced{index: l.GetIndex(), tokens: l.GetTokens(), tool: toolOf(l)}
	e := &compactordv1.Edit{
		Index:       l.GetIndex(),
		Kind:        compactordv1.EditKind_EDIT_KIND_HIDE_RESULT,
		Replacement: what.fill(h.parameters.GetPlaceholder()),
	}
	if e.TokensFreed = h.freedBy(e, l, shown); e.GetTokensFreed() > 0 {
		h.add(shown, e)
	}
}

// freedBy does without a simulation where it can, since there are many results: an answer is shown in so many tokens, with
// nothing around it.
func (h *hiding) freedBy(e *compactordv1.Edit, l *compactordv1.LoggedMessage, shown uint32) uint32 {
	if stray(l) {
		return h.simulated().add(e, l)
	}
	return shown - min(shown, session.TextTokens(h.state.Counter, e.GetReplacement()))
}

// leastCleared is how many tokens arguments must be longer than what stands in for them. Tokens are counted for whole
// messages, so a difference of one comes and goes with what else is cleared of the message, and the next run would find
// something to do.
const leastCleared = 2

// clearArguments clears the arguments of a call, where they are there and that frees anything. A pin holds the whole group.
func (h *hiding) clearArguments(call *compactordv1.CallRef) {
	pos, kept := position(h.state, call.GetIndex())
	if !kept || session.Pinned(h.state.Head, call.GetIndex()) ||
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
	if e.TokensFreed = h.simulated().add(e, l); e.GetTokensFreed() > 0 {
		h.add(what.tokens, e)
	}
}

func (h *hiding) simulated() *simulation {
	if h.simulation == nil {
		h.simulation = newSimulation(h.state)
	}
	return h.simulation
}

func (h *hiding) add(held uint32, e *compactordv1.Edit) {
	h.held += uint64(held)
	h.bytes += len(e.GetReplacement()) + editBytes
	h.edits = append(h.edits, e)
}

// plan is what was hidden, in the order of the log: nothing where all of it holds no more than minimum_tokens, or where it
// is too soon after the last rewrite.
func (h *hiding) plan(in *Input) *compactordv1.CompactionPlan {
	minimum := h.parameters.GetMinimumTokens()
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

// hideable says whether a result may be hidden. One that is put away already may not, so that hiding comes to an end and no
// text is lost that says how to have it back.
func hideable(s *session.State, l *compactordv1.LoggedMessage) bool {
	return !session.Pinned(s.Head, l.GetIndex()) && !s.ReplacedWhole(l)
}

// protected says whether a tool's results stay. Those of the tools that recall do: an agent that recalled something would
// else recall it again and again.
func protected(tool string, protectedTools []string) bool {
	return isRecallTool(tool) || slices.Contains(protectedTools, tool)
}

// hasCharacters says whether the view shows so many code points of a result's text.
func hasCharacters(s *session.State, l *compactordv1.LoggedMessage, least uint32) bool {
	if least == 0 {
		return true
	}
	shown, _ := s.Shown(l)
	var has uint64
	for _, p := range shown.GetParts()[0].GetToolResult().GetParts() {
		has += uint64(utf8.RuneCountInString(p.GetText().GetText()) + utf8.RuneCountInString(p.GetOpaque().GetJson()))
	}
	return has >= uint64(least)
}
