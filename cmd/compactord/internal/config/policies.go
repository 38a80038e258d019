package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/cmd/compactord/internal/policyfile"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/policies"
	"github.com/compactord/compactord/session/misspelt"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/summarizers"
)

// The keys of the file that hold policies by name, and the names of those of tenants.
const (
	policiesKey       = "policies"
	tenantPoliciesKey = "tenant_policies"
)

// readPolicies reads the policies, and returns every problem with them under its path.
func (f *File) readPolicies() []error {
	var problems []error
	var whole map[string]*compactordv1.Policy
	f.policies.Named, whole, problems = readNamed(f.sections[policiesKey])
	problems = append(problems, f.checkNamed(whole)...)
	ofTenants, err := mappingOf(tenantPoliciesKey, "tenants to policies", f.sections[tenantPoliciesKey])
	if err != nil {
		return append(problems, err)
	}
	f.policies.OfTenants = make(map[string]string, len(ofTenants))
	for _, name := range slices.Sorted(maps.Keys(ofTenants)) {
		policy, is := ofTenants[name].(string)
		if !is {
			problems = append(problems, fmt.Errorf("%s.%s must be the name of a policy", tenantPoliciesKey, name))
			continue
		}
		f.policies.OfTenants[name] = policy
	}
	problems = append(problems, f.policies.CheckNames())
	return append(problems, f.checkModels()...)
}

// checkModels returns an error for each tenant whose policy has its summaries written by a model that it may not use: each
// of its sessions would be refused, and the error would tell it the model's name.
func (f *File) checkModels() []error {
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(f.policies.OfTenants)) {
		policy := f.policies.OfTenants[name]
		model := f.policies.Named[policy].GetSummary().GetSummarizer()
		i := slices.IndexFunc(f.profiles, func(p *profile) bool { return p.name == model })
		if i >= 0 && f.profiles[i].allowed.tenants != nil && !slices.Contains(*f.profiles[i].allowed.tenants, name) {
			problems = append(problems, fmt.Errorf("%s.%s: policy %q has the summarizer %q, and summarizers.%s.allow.tenants does not have the tenant",
				tenantPoliciesKey, name, policy, model, model))
		}
	}
	return problems
}

// readNamed reads the policies by their names. A policy with a problem is among all of them too, so that its name is known.
func readNamed(given any) (named, whole map[string]*compactordv1.Policy, problems []error) {
	all, err := mappingOf(policiesKey, "names to policies", given)
	if err != nil {
		return nil, nil, []error{err}
	}
	named, whole = make(map[string]*compactordv1.Policy, len(all)), make(map[string]*compactordv1.Policy, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		policy, wrong := policyfile.Decode(policiesKey+"."+name, all[name])
		named[name] = policy
		problems = append(problems, wrong...)
		if len(wrong) == 0 {
			whole[name] = policy
		}
	}
	return named, whole, problems
}

// mappingOf returns the mapping that a key has as its value; empty for none.
func mappingOf(key, what string, value any) (map[string]any, error) {
	switch v := value.(type) {
	case nil:
		return nil, nil
	case settings:
		return v, nil
	case map[string]any:
		return v, nil
	default:
		return nil, fmt.Errorf("%s must be a mapping of %s", key, what)
	}
}

// checkNamed returns every problem with policies that could be read.
func (f *File) checkNamed(whole map[string]*compactordv1.Policy) []error {
	planners, err := strategies.NewRegistry(strategies.Builtin()...)
	if err != nil {
		return []error{err}
	}
	return each(policies.NewResolver(planners, summarizerNames(f.profiles)).Check(&policies.Set{Named: whole}))
}

// summarizerNames are the summarizers that policies can name, before there are any.
type summarizerNames []*profile

// Names is part of policies.Summarizers.
func (s summarizerNames) Names() []string {
	names := make([]string, 0, 1+len(s))
	names = append(names, BuiltinSummarizer)
	for _, p := range s {
		names = append(names, p.name)
	}
	return names
}

// Get is part of policies.Summarizers. It returns no summarizer.
func (s summarizerNames) Get(name string) (summarizers.Summarizer, error) {
	if slices.Contains(s.Names(), name) {
		return nil, nil
	}
	return nil, fmt.Errorf("%w: summarizer %q; there are %s", summarizers.ErrUnknown, name, strings.Join(s.Names(), ", "))
}

// CheckPolicy returns an error that lists presets and policies if none has this name.
func (f *File) CheckPolicy(flag, name string) error {
	if name == "" || slices.Contains(f.policies.Names(), name) {
		return nil
	}
	return fmt.Errorf("%s: there is no preset or policy %q%s; there are %s. Policies are named under %q in the configuration file",
		flag, name, misspelt.Of(name, f.policies.Names()), strings.Join(f.policies.Names(), ", "), policiesKey)
}

// Policies returns the policies of the operator.
func (c *Config) Policies(f *File) policies.Set {
	set := f.policies
	set.DefaultName = c.DefaultPolicy
	set.Default = &compactordv1.Policy{
		Preset:  proto.String(c.DefaultPreset),
		Summary: &compactordv1.SummaryPolicy{Summarizer: proto.String(c.DefaultSummarizer)},
	}
	return set
}
