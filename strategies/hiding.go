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

// The four strategies that hide tool results differ in how they select results. This file has what they share: which
// results are never hidden, what replaces a result and arguments, and when hiding is worth it.

// maxPlanBytes limits the size of the edits in one plan, so that clients can receive the responses that contain them.
// The oldest results are edited first, and the next plan continues.
const maxPlanBytes = 1 << 20

// editBytes is about the size of an edit without its replacement.
const editBytes = 32

// hidingParameters are the parameters that all these strategies have.
type hidingParameters interface {
	GetMinimumTokens() uint32
	GetMinChars() uint32
	GetProtectedTools() []string
	GetClearArguments() bool
	GetPlaceholder() string
}

// hidingOf returns the parameters of a strategy that hides results, as given, without defaults. It returns false for any
// other strategy.
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

// fillHiding sets missing parameters to their defaults. minimum_tokens has a different default for each strategy.
func fillHiding(minChars **uint32, clearArguments **bool, placeholder **string) {
	fill(minChars, 0)
	fill(clearArguments, false)
	fill(placeholder, "")
	*placeholder = proto.String(cmp.Or(**placeholder, wording.HiddenResult))
}

// toolUse is a call with its result. call is nil for a result that answers no call, and result is nil for a call
// without a result.
type toolUse struct {
	call   *compactordv1.CallRef
	result *compactordv1.LoggedMessage
}

// useOf returns the tool use of a result.
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

// planHiding hides the results of the tool uses that a strategy selected, the oldest first. If the parameters say so,
// it also clears the arguments of the calls.
func planHiding(ctx context.Context, in *Input, p hidingParameters, uses []toolUse) (*compactordv1.CompactionPlan, error) {
	h := &hiding{state: in.State, parameters: p}
	for _, u := range uses {
		if err := ended(ctx); err != nil {
			return nil, err
		}
		if err := h.hide(ctx, u); err != nil {
			return nil, err
		}
		if h.full() {
			break
		}
	}
	return h.plan(in), nil
}

// hiding builds a plan that hides results and clears arguments.
type hiding struct {
	state      *session.State
	parameters hidingParameters
	simulation *simulation
	edits      []*compactordv1.Edit
	// bytes is about the size of the edits.
	bytes int
	// held is how many tokens the view showed of the hidden results and the cleared arguments.
	held uint64
}

// full says whether the plan accepts no more edits.
func (h *hiding) full() bool { return h.bytes > maxPlanBytes }

// hide hides the result of a tool use. It also clears the arguments if the result is too short to hide: a call that
// writes a file has long arguments and a short result.
func (h *hiding) hide(ctx context.Context, u toolUse) error {
	if protected(u.tool(), h.parameters.GetProtectedTools()) {
		return nil
	}
	if u.result != nil && editable(h.state, u.result) {
		if err := h.hideResult(ctx, u.result); err != nil {
			return err
		}
	}
	if u.call != nil && h.parameters.GetClearArguments() {
		h.clearArguments(u.call)
	}
	return nil
}

// hideResult hides a result if it is long enough and hiding it frees anything. The placeholder names the result's tokens
// in the log, which is what a recall returns.
func (h *hiding) hideResult(ctx context.Context, l *compactordv1.LoggedMessage) error {
	tokens := h.state.ShownTokens(l)
	if long, err := h.hasCharacters(ctx, l); !long {
		return err
	}
	what := replaced{index: l.GetIndex(), tokens: l.GetTokens(), tool: toolOf(l)}
	e := &compactordv1.Edit{
		Index:       l.GetIndex(),
		Kind:        compactordv1.EditKind_EDIT_KIND_HIDE_RESULT,
		Replacement: what.fill(h.parameters.GetPlaceholder()),
	}
	if e.TokensFreed = h.freedBy(e, l, tokens); e.GetTokensFreed() > 0 {
		h.add(tokens, e)
	}
	return nil
}

// freedBy returns the tokens that hiding a result of this many tokens frees. It avoids a simulation where it can, since
// there are many results. An answer's tokens do not depend on the messages around it.
func (h *hiding) freedBy(e *compactordv1.Edit, l *compactordv1.LoggedMessage, shown uint32) uint32 {
	if stray(l) {
		return h.simulated().add(e, l)
	}
	return shown - min(shown, session.TextTokens(h.state.Counter, e.GetReplacement()))
}

// leastCleared is how many tokens longer than their replacement arguments must be. Tokens are counted for whole
// messages, so a difference of one can appear or disappear with other edits of the message. The next run would then
// find something to do.
const leastCleared = 2

// clearArguments clears the arguments of a call if that frees anything. A pin protects the whole group, and a thought
// signature the arguments that it was made for.
func (h *hiding) clearArguments(call *compactordv1.CallRef) {
	pos, kept := position(h.state, call.GetIndex())
	if !kept || session.Pinned(h.state.Head, call.GetIndex()) ||
		edited(h.state, call.GetIndex(), call.GetPart(), compactordv1.EditKind_EDIT_KIND_TRUNCATE_ARGUMENTS) {
		return
	}
	l := h.state.Kept[pos]
	if session.SignedCall(l.GetMessage().GetParts()[call.GetPart()]) {
		return
	}
	what := replaced{
		index: call.GetIndex(), part: call.GetPart(), tool: call.GetName(),
		tokens: session.ArgumentTokens(h.state.Counter, l, call.GetPart()),
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

// plan returns the plan with its edits in the order of the log. It does nothing if the edits cover no more than
// minimum_tokens, or if the last rewrite was too recent.
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

// tooSoon says whether less than `minimum` tokens were appended since the last rewrite of the view. Each rewrite
// invalidates the provider's prompt cache, so an automatic one must be worth it. Strategies that ran before this one in
// the same plan do not count as a rewrite.
func tooSoon(in *Input, minimum uint32) bool {
	head := in.beginning().Head
	return in.Reason == compactordv1.CompactionReason_COMPACTION_REASON_THRESHOLD && head.RewrittenAtTokens != nil &&
		head.GetAppendedTokens()-head.GetRewrittenAtTokens() < session.Stored(head, minimum)
}

// protected says whether a tool's results stay. Results of recall tools stay, since an agent that recalled something
// would otherwise recall it again and again.
func protected(tool string, protectedTools []string) bool {
	return isRecallTool(tool) || slices.Contains(protectedTools, tool)
}

// hasCharacters says whether a result's text, as the view shows it, has at least min_chars code points.
func (h *hiding) hasCharacters(ctx context.Context, l *compactordv1.LoggedMessage) (bool, error) {
	least := h.parameters.GetMinChars()
	if least == 0 {
		return true, nil
	}
	whole, err := h.state.Whole(ctx, l)
	if err != nil {
		return false, err
	}
	shown, _ := h.state.Shown(whole)
	var has uint64
	for _, p := range shown.GetParts()[0].GetToolResult().GetParts() {
		has += uint64(utf8.RuneCountInString(p.GetText().GetText()) + utf8.RuneCountInString(p.GetOpaque().GetJson()))
	}
	return has >= uint64(least), nil
}
