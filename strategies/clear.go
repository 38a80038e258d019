package strategies

import (
	"context"
	"slices"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// Defaults of ClearToolUses: those of Anthropic's context editing.
const (
	defaultKeepUses     = 3
	defaultClearTrigger = 100_000
)

// ClearToolUses clears all but the newest tool uses, as Anthropic's API does by itself: a use is one call with its result,
// whatever group it belongs to.
type ClearToolUses struct{}

// Name returns `clear_tool_uses`.
func (ClearToolUses) Name() string { return "clear_tool_uses" }

// Plan returns a plan with edits, or one that does nothing.
func (c ClearToolUses) Plan(
	ctx context.Context, in *Input, parameters *compactordv1.Strategy,
) (*compactordv1.CompactionPlan, error) {
	p := c.Resolved(in.Policy, parameters).GetClearToolUses()
	if in.measure().context(in.State) < uint64(p.GetTriggerTokens()) {
		return noop(in, compactordv1.SkipReason_SKIP_REASON_BELOW_THRESHOLD), nil
	}
	uses := toolUses(in.State)
	h := newHiding(in.State, p.GetPlaceholder())
	for _, u := range allBut(uses, p.GetKeep()) {
		if err := ended(ctx); err != nil {
			return nil, err
		}
		if u.shown && clearable(in.State, u.call, p.GetExcludeTools()) {
			if u.result != nil && hideable(in.State, u.result, nil) {
				h.hide(u.result)
			}
			if p.GetClearInputs() {
				h.clear(u.call)
			}
		}
		if h.full() {
			break
		}
	}
	if len(h.edits) > 0 && h.freed < uint64(in.State.Stored(p.GetClearAtLeast())) {
		return noop(in, compactordv1.SkipReason_SKIP_REASON_BELOW_MINIMUM), nil
	}
	return h.plan(in, 0), nil
}

// toolUse is one call, and its result where it has one.
type toolUse struct {
	call   *compactordv1.CallRef
	result *compactordv1.LoggedMessage
	// shown says that its group is finished and not collapsed.
	shown bool
}

// toolUses are those of the kept part in the order of their calls.
func toolUses(s *session.State) []toolUse {
	var uses []toolUse
	for _, g := range s.Groups() {
		l := s.Kept[g.Call]
		results := make(map[uint32]*compactordv1.LoggedMessage, len(g.Results))
		for _, pos := range g.Results {
			results[s.Kept[pos].GetAnswers().GetPart()] = s.Kept[pos]
		}
		shown := !g.Open && !collapsed(s, g)
		for _, call := range session.Calls(l.GetMessage(), l.GetIndex()) {
			uses = append(uses, toolUse{call: call, result: results[call.GetPart()], shown: shown})
		}
	}
	return uses
}

// clearable says whether anything of a use may be cleared: its pin holds for the whole group.
func clearable(s *session.State, call *compactordv1.CallRef, excluded []string) bool {
	return !session.Pinned(s.Head, call.GetIndex()) &&
		!slices.Contains(excluded, call.GetName()) && !isRecallTool(call.GetName())
}

// Resolved implements Resolver.
func (ClearToolUses) Resolved(_ *compactordv1.Policy, parameters *compactordv1.Strategy) *compactordv1.Strategy {
	p := &compactordv1.ClearToolUsesStrategy{}
	if given := parameters.GetClearToolUses(); given != nil {
		p = proto.CloneOf(given)
	}
	fill(&p.Keep, defaultKeepUses)
	fill(&p.TriggerTokens, defaultClearTrigger)
	fill(&p.ClearAtLeast, 0)
	p.ClearInputs = proto.Bool(p.GetClearInputs())
	p.Placeholder = proto.String(resultTemplate(p.GetPlaceholder()))
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_ClearToolUses{ClearToolUses: p}}
}
