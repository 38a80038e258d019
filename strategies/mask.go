package strategies

import (
	"context"
	"slices"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// defaultMaskWindow is what the study of observation masking found best.
const defaultMaskWindow = 10

// MaskObservations hides the results of older steps of the agent: what it thought and did stays, what it saw goes. Groups
// stay that are about files which it works on now.
type MaskObservations struct{}

// Name returns `mask_observations`.
func (MaskObservations) Name() string { return "mask_observations" }

// Plan returns a plan with edits, or one that does nothing.
func (m MaskObservations) Plan(
	ctx context.Context, in *Input, parameters *compactordv1.Strategy,
) (*compactordv1.CompactionPlan, error) {
	p := m.Resolved(in.Policy, parameters).GetMaskObservations()
	groups := in.State.Groups()
	start := beforeNewest(in.State, groups, p.GetWindow())
	recent := func(g session.Group) bool { return g.Call >= start }
	if p.GetUnit() == compactordv1.MaskUnit_MASK_UNIT_TURN {
		start = recentTurns(in.State, p.GetWindow())
		// A result that came after the turn of its call is news of the turn in which it came.
		recent = func(g session.Group) bool { return g.Last() >= start }
	}
	older := slices.DeleteFunc(slices.Clone(groups), recent)
	idle, err := idleGroups(ctx, in, older, groups[len(allBut(groups, p.GetActiveFileGroups())):])
	if err != nil {
		return nil, err
	}
	old := oldResults{
		groups: idle, strays: start, end: len(in.State.Kept),
		minChars: p.GetMinChars(), protectedTools: p.GetProtectedTools(),
	}
	return old.plan(ctx, in, p.GetPlaceholder(), p.GetMinimumTokens())
}

// idleGroups are those that name no file which an active group names.
func idleGroups(ctx context.Context, in *Input, groups, active []session.Group) ([]session.Group, error) {
	if len(active) == 0 {
		return groups, nil
	}
	named := make(map[string]bool)
	for _, g := range active {
		if err := ended(ctx); err != nil {
			return nil, err
		}
		for _, path := range filesNamed(in, g) {
			named[path] = true
		}
	}
	var idle []session.Group
	for _, g := range groups {
		if err := ended(ctx); err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(filesNamed(in, g), func(path string) bool { return named[path] }) {
			idle = append(idle, g)
		}
	}
	return idle, nil
}

// filesNamed are the files that the calls of a group name.
func filesNamed(in *Input, g session.Group) []string {
	files := TouchedFiles(nil, FileTools(in.Policy), in.State.Kept[g.Call:g.Call+1])
	return slices.Concat(files.GetRead(), files.GetModified())
}

// Resolved implements Resolver.
func (MaskObservations) Resolved(_ *compactordv1.Policy, parameters *compactordv1.Strategy) *compactordv1.Strategy {
	p := &compactordv1.MaskObservationsStrategy{}
	if given := parameters.GetMaskObservations(); given != nil {
		p = proto.CloneOf(given)
	}
	fill(&p.Window, defaultMaskWindow)
	if p.GetUnit() == compactordv1.MaskUnit_MASK_UNIT_UNSPECIFIED {
		p.Unit = compactordv1.MaskUnit_MASK_UNIT_GROUP.Enum()
	}
	p.Placeholder = proto.String(resultTemplate(p.GetPlaceholder()))
	fill(&p.MinChars, 0)
	fill(&p.ActiveFileGroups, 0)
	fill(&p.MinimumTokens, 0)
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_MaskObservations{MaskObservations: p}}
}
