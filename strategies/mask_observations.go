package strategies

import (
	"context"
	"slices"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// defaultMaskGroups is the best number by the study of observation masking.
const defaultMaskGroups = 10

// MaskObservations hides the results of the agent's older steps: its thinking and its actions stay, what it observed is
// hidden. Groups about files that it works on now stay.
type MaskObservations struct{}

// Name returns `mask_observations`.
func (MaskObservations) Name() string { return "mask_observations" }

// Plan returns a plan with edits, or one that does nothing.
func (m MaskObservations) Plan(
	ctx context.Context, in *Input, parameters *compactordv1.Strategy,
) (*compactordv1.CompactionPlan, error) {
	p := m.Resolved(in.Policy, parameters).GetMaskObservations()
	groups := in.State.Groups()
	start := beforeGroups(in.State, groups, p.GetKeepGroups())
	recent := func(g session.Group) bool { return g.Call >= start }
	if p.KeepTurns != nil {
		start = beforeTurns(in.State, p.GetKeepTurns())
		// A result that came after its call's turn belongs to the turn in which it came.
		recent = func(g session.Group) bool { return g.Last() >= start }
	}
	older := slices.DeleteFunc(slices.Clone(groups), recent)
	idle, err := idleGroups(ctx, in, older, groups[len(allBut(groups, p.GetActiveFileGroups())):])
	if err != nil {
		return nil, err
	}
	uses, err := oldUses(ctx, in.State, idle, start)
	if err != nil {
		return nil, err
	}
	return planHiding(ctx, in, p, uses)
}

// idleGroups returns the groups that name no file which an active group names.
func idleGroups(ctx context.Context, in *Input, groups, active []session.Group) ([]session.Group, error) {
	if len(active) == 0 {
		return groups, nil
	}
	tools := toolsByName(FileTools(in.Policy))
	named := make(map[string]bool)
	for _, g := range active {
		if err := ended(ctx); err != nil {
			return nil, err
		}
		for _, path := range filesNamed(in, tools, g) {
			named[path] = true
		}
	}
	var idle []session.Group
	for _, g := range groups {
		if err := ended(ctx); err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(filesNamed(in, tools, g), func(path string) bool { return named[path] }) {
			idle = append(idle, g)
		}
	}
	return idle, nil
}

// filesNamed returns the files that the calls of a group name.
func filesNamed(in *Input, tools toolTable, g session.Group) []string {
	files := touchedFiles(in.State.Known, nil, tools, in.State.Kept[g.Call:g.Call+1])
	return slices.Concat(files.GetRead(), files.GetModified())
}

// Resolved implements Resolver.
func (MaskObservations) Resolved(_ *compactordv1.Policy, parameters *compactordv1.Strategy) *compactordv1.Strategy {
	p := &compactordv1.MaskObservationsStrategy{}
	if given := parameters.GetMaskObservations(); given != nil {
		p = proto.CloneOf(given)
	}
	if p.KeepTurns == nil {
		fill(&p.KeepGroups, defaultMaskGroups)
	}
	fill(&p.ActiveFileGroups, 0)
	fill(&p.MinimumTokens, 0)
	fillHiding(&p.MinChars, &p.ClearArguments, &p.Placeholder)
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_MaskObservations{MaskObservations: p}}
}
