package strategies

import (
	"maps"
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// The catalogue that ListStrategies returns.

// Described is a custom Strategy that describes itself.
type Described interface {
	Strategy
	// Description returns a sentence or two.
	Description() string
}

// Catalogue returns the strategies of the registry, and the presets for a model with these limits. After the presets come
// the policies that an operator named.
func Catalogue(r *Registry, l Limits, named map[string]*compactordv1.Policy) (*compactordv1.ListStrategiesResponse, error) {
	all := &compactordv1.ListStrategiesResponse{Presets: make([]*compactordv1.PresetInfo, len(presets))}
	users := make(map[string][]string)
	for i, p := range presets {
		policy, err := Resolve(&compactordv1.Policy{
			Preset: &p.name, ContextWindow: known(l.Window), MaxOutputTokens: known(l.MaxOutput), MaxInputTokens: known(l.MaxInput),
		})
		if err != nil {
			return nil, err
		}
		all.Presets[i] = &compactordv1.PresetInfo{
			Name: p.name, Description: p.does, Reproduces: p.reproduces, Deviations: slices.Clone(p.deviations), Policy: policy,
		}
		for _, name := range used(policy) {
			users[name] = append(users[name], p.name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		info := infoOfNamed(name, named[name], l)
		all.Presets = append(all.Presets, info)
		if info.GetPolicy() == nil {
			continue
		}
		for _, strategy := range used(info.GetPolicy()) {
			users[strategy] = append(users[strategy], name)
		}
	}
	kinds := kindField().Fields()
	for i := range kinds.Len() {
		name := string(kinds.Get(i).Name())
		if s, ok := r.byName[name]; ok {
			all.Strategies = append(all.Strategies, infoOf(s, kinds.Get(i), users[name]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.byName)) {
		if isKind(name) {
			continue
		}
		info := &compactordv1.StrategyInfo{Name: name, Custom: true, Presets: users[name]}
		if s, ok := r.byName[name].(Described); ok {
			info.Description = s.Description()
		}
		all.Strategies = append(all.Strategies, info)
	}
	return all, nil
}

// infoOfNamed describes a policy that an operator named. With limits under which it contradicts itself it has no figures.
func infoOfNamed(name string, p *compactordv1.Policy, l Limits) *compactordv1.PresetInfo {
	info := &compactordv1.PresetInfo{
		Name: name, Description: "Named by the daemon's configuration, and based on the preset `" + p.GetPreset() + "`.",
	}
	policy, err := Resolve(p, &compactordv1.Policy{
		ContextWindow: known(l.Window), MaxOutputTokens: known(l.MaxOutput), MaxInputTokens: known(l.MaxInput),
	})
	if err != nil {
		info.Description += " These limits do not fit: " + err.Error() + "."
		return info
	}
	info.Policy = policy
	return info
}

// used returns the names of all strategies in a policy, each once.
func used(p *compactordv1.Policy) []string {
	var names []string
	for _, s := range slices.Concat(
		[]*compactordv1.Strategy{p.GetStrategy(), p.GetPruneStrategy()}, p.GetOnAppend().GetStrategies(), p.GetOnUserMessage().GetStrategies(),
	) {
		for nested := range All(s) {
			names = append(names, KindOf(nested))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// infoOf describes a strategy of the contract by its comments and constraints there.
func infoOf(s Strategy, kind protoreflect.FieldDescriptor, presets []string) *compactordv1.StrategyInfo {
	bare := &compactordv1.Strategy{}
	m := bare.ProtoReflect()
	m.Set(kind, m.NewField(kind))
	resolved := bare
	if resolver, ok := s.(Resolver); ok {
		resolved = resolver.Resolved(&compactordv1.Policy{}, bare)
	}
	editor, _ := onArrival(bare, &compactordv1.Policy{}, func(tokens uint32) uint32 { return tokens })
	info := &compactordv1.StrategyInfo{
		Name:            string(kind.Name()),
		Description:     descriptions[string(kind.FullName())],
		NeedsSummarizer: NeedsSummarizer(bare),
		Cuts:            Cuts(bare),
		Nests:           Nests(bare),
		OnAppend:        editor != nil,
		Presets:         presets,
	}
	fields := kind.Message().Fields()
	for i := range fields.Len() {
		info.Parameters = append(info.Parameters, parameterOf(fields.Get(i), resolved.ProtoReflect().Get(kind).Message()))
	}
	return info
}
