package strategies

import (
	"context"
	"slices"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// defaultKeepGroups is the number in KLIP-13.
const defaultKeepGroups = 5

// HideToolResults hides the results of all but the newest tool groups. It counts groups and not turns, since an agent
// does a whole task within one turn, and since not every USER message is by the user.
type HideToolResults struct{}

// Name returns `hide_tool_results`.
func (HideToolResults) Name() string { return "hide_tool_results" }

// Plan returns a plan with edits, or one that does nothing.
func (h HideToolResults) Plan(
	ctx context.Context, in *Input, parameters *compactordv1.Strategy,
) (*compactordv1.CompactionPlan, error) {
	p := h.Resolved(in.Policy, parameters).GetHideToolResults()
	groups := in.State.Groups()
	start := beforeGroups(in.State, groups, p.GetKeepGroups())
	uses, err := oldUses(ctx, in.State, allBut(groups, p.GetKeepGroups()), start)
	if err != nil {
		return nil, err
	}
	if older := allBut(in.State.Kept, p.GetKeepMessages()); len(older) < len(in.State.Kept) {
		end := in.State.Kept[len(older)].GetIndex()
		uses = slices.DeleteFunc(uses, func(u toolUse) bool { return u.result.GetIndex() >= end })
	}
	return planHiding(ctx, in, p, uses)
}

// Resolved implements Resolver.
func (HideToolResults) Resolved(_ *compactordv1.Policy, parameters *compactordv1.Strategy) *compactordv1.Strategy {
	p := &compactordv1.HideToolResultsStrategy{}
	if given := parameters.GetHideToolResults(); given != nil {
		p = proto.CloneOf(given)
	}
	fill(&p.KeepGroups, defaultKeepGroups)
	fill(&p.KeepMessages, 0)
	fill(&p.MinimumTokens, 0)
	fillHiding(&p.MinChars, &p.ClearArguments, &p.Placeholder)
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_HideToolResults{HideToolResults: p}}
}
