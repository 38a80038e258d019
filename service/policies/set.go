package policies

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"buf.build/go/protovalidate"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/tenant"
	"github.com/compactord/compactord/session/misspelt"
	"github.com/compactord/compactord/strategies"
)

// Set is what an operator sets for policies.
type Set struct {
	// Default is the policy that applies where another sets nothing. May be nil.
	Default *compactordv1.Policy
	// Named are policies by the names that stand for them wherever the name of a preset may. Each has the preset that it
	// is based on.
	Named map[string]*compactordv1.Policy
	// DefaultName is the preset or the named policy of sessions whose policy names none; empty: the preset of Default.
	DefaultName string
	// OfTenants are such names for the sessions of single tenants, by the tenant's name.
	OfTenants map[string]string
}

// All returns all policies, each with what Default adds to it, and Default itself.
func (s *Set) All() []*compactordv1.Policy {
	all := make([]*compactordv1.Policy, 0, 1+len(s.Named))
	all = append(all, s.Default)
	for _, name := range slices.Sorted(maps.Keys(s.Named)) {
		all = append(all, strategies.Merge(s.Default, s.Named[name]))
	}
	return all
}

// Bounds of a Set. With them, ListStrategies stays below gRPC's usual limit of 4 MB.
const (
	// MaxNamed is the most policies with names.
	MaxNamed = 64
	// MaxNamedBytes is the most bytes that they have together in protobuf encoding.
	MaxNamedBytes = 1 << 20
	// MaxTenants is the most tenants that have a default of their own.
	MaxTenants = 10_000
)

// policyName is the syntax of names of presets, as in the contract.
var policyName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)
})

// ValidName says whether a text has the syntax of a preset's or named policy's name.
func ValidName(name string) bool { return policyName().MatchString(name) }

// CheckNames returns an error for each default that names neither a preset nor one of the policies.
func (s *Set) CheckNames() error {
	var problems []error
	if s.DefaultName != "" && !s.knows(s.DefaultName) {
		problems = append(problems, fmt.Errorf("default_policy: %s", s.unknown(s.DefaultName)))
	}
	return errors.Join(append(problems, s.checkTenants()...)...)
}

func (s *Set) checkTenants() []error {
	if len(s.OfTenants) > MaxTenants {
		return []error{fmt.Errorf("tenant_policies must have at most %d tenants", MaxTenants)}
	}
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(s.OfTenants)) {
		if err := tenant.Check(name); err != nil && name != tenant.Default {
			problems = append(problems, fmt.Errorf("tenant_policies: %q is no tenant: %w", name, err))
			continue
		}
		if policy := s.OfTenants[name]; !s.knows(policy) {
			problems = append(problems, fmt.Errorf("tenant_policies.%s: %s", name, s.unknown(policy)))
		}
	}
	return problems
}

func (s *Set) knows(name string) bool {
	_, named := s.Named[name]
	return named || slices.Contains(strategies.PresetNames(), name)
}

func (s *Set) unknown(name string) string {
	return fmt.Sprintf("there is no preset or policy %q%s; there are %s", name, misspelt.Of(name, s.Names()), strings.Join(s.Names(), ", "))
}

// Names returns the names that policies can be based on: those of presets, then those of the named policies.
func (s *Set) Names() []string {
	return slices.Concat(strategies.PresetNames(), slices.Sorted(maps.Keys(s.Named)))
}

// Check returns every problem with the policies of a set, under the path of its key in a configuration.
func (r *Resolver) Check(s *Set) error {
	if len(s.Named) > MaxNamed {
		return fmt.Errorf("policies must have at most %d policies", MaxNamed)
	}
	var problems []error
	bytes := 0
	for _, name := range slices.Sorted(maps.Keys(s.Named)) {
		bytes += proto.Size(s.Named[name])
		problems = append(problems, r.checkNamed(s, name)...)
	}
	if bytes > MaxNamedBytes {
		problems = append(problems, fmt.Errorf("policies must have at most %d KiB together", MaxNamedBytes>>10))
	}
	return errors.Join(problems...)
}

// checkNamed returns every problem with one policy of a set.
func (r *Resolver) checkNamed(s *Set, name string) []error {
	switch {
	case !ValidName(name):
		return []error{fmt.Errorf("policies: %q is no name: write a small letter, then up to 63 small letters, digits and _", name)}
	case slices.Contains(strategies.PresetNames(), name):
		return []error{fmt.Errorf("policies.%s: a preset has this name; choose another", name)}
	}
	path, p := "policies."+name, s.Named[name]
	if p.Preset == nil {
		return []error{fmt.Errorf("%s.preset must name the preset that it is based on: %s", path, strings.Join(strategies.PresetNames(), ", "))}
	}
	if !slices.Contains(strategies.PresetNames(), p.GetPreset()) {
		return []error{fmt.Errorf("%s.preset: there is no preset %q%s; there are %s", path, p.GetPreset(),
			misspelt.Of(p.GetPreset(), strategies.PresetNames()), strings.Join(strategies.PresetNames(), ", "))}
	}
	req := &compactordv1.CreateSessionRequest{Policy: p}
	err := protovalidate.Validate(req)
	if err == nil {
		err = CheckSize(req)
	}
	if err == nil {
		err = r.checkResolved(s.Default, p)
	}
	if err == nil {
		return nil
	}
	return underPath(path, err)
}

func (r *Resolver) checkResolved(given ...*compactordv1.Policy) error {
	resolved, err := strategies.Resolve(given...)
	if err != nil {
		return err
	}
	return r.check(resolved, func(string) bool { return true })
}

// underPath takes an error of a request apart, and puts the path in a configuration in the place of its field `policy`.
func underPath(path string, err error) []error {
	e := apierror.From(err, "")
	if len(e.Fields) == 0 {
		return []error{fmt.Errorf("%s: %w", path, err)}
	}
	problems := make([]error, len(e.Fields))
	for i, f := range e.Fields {
		problems[i] = fmt.Errorf("%s%s: %s", path, strings.TrimPrefix(f.Field, "policy"), f.Description)
	}
	return problems
}

// nameFor returns what a policy of the tenant of a context is based on where it names nothing itself.
func (s *Set) nameFor(ctx context.Context) string {
	if name, there := s.OfTenants[tenant.Of(ctx)]; there {
		return name
	}
	return s.DefaultName
}

// written returns a policy with the policy that it names written out. Such a policy means the same for ever, whatever the
// operator changes.
func (s *Set) written(p *compactordv1.Policy) *compactordv1.Policy {
	named, there := s.Named[p.GetPreset()]
	if !there {
		return p
	}
	own := proto.CloneOf(p)
	own.Preset = nil
	return strategies.Merge(named, own)
}
