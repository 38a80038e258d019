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
	defaultKeepCalls    = 3
	defaultClearTrigger = 100_000
)

// ClearToolUses clears all but the newest tool uses, like Anthropic's API. A use is one call with its result, whatever
// its group.
type ClearToolUses struct{}

// Name returns `clear_tool_uses`.
func (ClearToolUses) Name() string { return "clear_tool_uses" }

// Plan returns a plan with edits, or one that does nothing.
func (c ClearToolUses) Plan(
	ctx context.Context, in *Input, parameters *compactordv1.Strategy,
) (*compactordv1.CompactionPlan, error) {
	p := c.Resolved(in.Policy, parameters).GetClearToolUses()
	if in.budget().context(in.State) < uint64(p.GetTriggerTokens()) {
		return noop(in, compactordv1.SkipReason_SKIP_REASON_BELOW_THRESHOLD), nil
	}
	uses, err := closedUses(ctx, in.State, p.GetKeepCalls())
	if err != nil {
		return nil, err
	}
	return planHiding(ctx, in, p, uses)
}

// closedUses returns the tool uses in the order of their calls, without the newest n. It also leaves out uses of open
// groups, whose results the model has not read yet, and of collapsed groups, whose results no view shows. Their calls
// count for n nevertheless.
func closedUses(ctx context.Context, s *session.State, newest uint32) ([]toolUse, error) {
	var uses []toolUse
	settledCalls := make(map[uint32]bool)
	for _, g := range s.Groups() {
		if err := ended(ctx); err != nil {
			return nil, err
		}
		l := s.Kept[g.Call]
		settledCalls[l.GetIndex()] = settled(s, g)
		results := make(map[uint32]*compactordv1.LoggedMessage, len(g.Results))
		for _, pos := range g.Results {
			results[s.Kept[pos].GetAnswers().GetPart()] = s.Kept[pos]
		}
		for _, call := range session.Calls(l.GetMessage(), l.GetIndex()) {
			uses = append(uses, toolUse{call: call, result: results[call.GetPart()]})
		}
	}
	return slices.DeleteFunc(allBut(uses, newest), func(u toolUse) bool { return !settledCalls[u.call.GetIndex()] }), nil
}

// Resolved implements Resolver.
func (ClearToolUses) Resolved(_ *compactordv1.Policy, parameters *compactordv1.Strategy) *compactordv1.Strategy {
	p := &compactordv1.ClearToolUsesStrategy{}
	if given := parameters.GetClearToolUses(); given != nil {
		p = proto.CloneOf(given)
	}
	fill(&p.KeepCalls, defaultKeepCalls)
	fill(&p.TriggerTokens, defaultClearTrigger)
	fill(&p.MinimumTokens, 0)
	fillHiding(&p.MinChars, &p.ClearArguments, &p.Placeholder)
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_ClearToolUses{ClearToolUses: p}}
}
