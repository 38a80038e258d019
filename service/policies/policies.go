// Package policies resolves the policies of sessions and calls, and refuses those that this daemon cannot carry out.
package policies

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/allowance"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/summaries"
	"github.com/compactord/compactord/session/misspelt"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/summarizers"
)

// Summarizers are those that policies can name.
type Summarizers interface {
	// Get returns an error with the known names if there is none with this name.
	Get(name string) (summarizers.Summarizer, error)
	Names() []string
}

// Resolver resolves policies.
type Resolver struct {
	strategies  *strategies.Registry
	summarizers Summarizers
	set         atomic.Pointer[Set]
	// Allowances say who may use which summarizer, and how. May be nil.
	Allowances *allowance.Allowances
}

// NewResolver returns a resolver for policies that can name these strategies and summarizers. It has no policies of an
// operator yet.
func NewResolver(known *strategies.Registry, by Summarizers) *Resolver {
	r := &Resolver{strategies: known, summarizers: by}
	r.set.Store(&Set{})
	return r
}

// Use makes policies of an operator those of all calls that begin from now on. On an error, all stays as it was.
func (r *Resolver) Use(s *Set) error {
	if err := errors.Join(r.Check(s), s.CheckNames(), r.checkResolved(s.Default)); err != nil {
		return err
	}
	r.set.Store(s)
	return nil
}

// Set returns the policies of the operator. They must not be changed.
func (r *Resolver) Set() *Set { return r.set.Load() }

// SetFor returns those of Set that there are for the tenant of the context: those whose summarizer it may use, and the one that
// is its default. The others would tell of summarizers that there are not for this tenant.
func (r *Resolver) SetFor(ctx context.Context) *Set {
	set := r.Set()
	hidden := func(name string, p *compactordv1.Policy) bool {
		by := p.GetSummary().GetSummarizer()
		return by != "" && name != set.nameFor(ctx) && !r.Allowances.MayUse(ctx, by)
	}
	for name, p := range set.Named {
		if hidden(name, p) {
			own := *set
			own.Named = maps.Clone(set.Named)
			maps.DeleteFunc(own.Named, hidden)
			return &own
		}
	}
	return set
}

// OfSession returns the policy that a session keeps where a client gives this one, which may be nil. Where the client's
// names a policy of the operator, or none where the operator has a default, that is written out: the session does not
// change with the operator's policies.
func (r *Resolver) OfSession(ctx context.Context, given *compactordv1.Policy) (*compactordv1.Policy, error) {
	set := r.SetFor(ctx)
	if name := set.nameFor(ctx); name != "" && (given == nil || given.Preset == nil) {
		given = strategies.Merge(given, &compactordv1.Policy{Preset: &name})
	}
	return written(set, given)
}

// OfCall returns the policy of a call for a session, which may be nil, with the operator's policy that it names written
// out.
func (r *Resolver) OfCall(ctx context.Context, given *compactordv1.Policy) (*compactordv1.Policy, error) {
	return written(r.SetFor(ctx), given)
}

func written(set *Set, given *compactordv1.Policy) (*compactordv1.Policy, error) {
	p := set.written(given)
	if p == given {
		return given, nil
	}
	// Together, the two policies may be too large.
	return p, CheckSize(&compactordv1.CreateSessionRequest{Policy: p})
}

// Resolve resolves the daemon's default policy and the given policies. Each overrides those before it. The given ones come
// from OfSession or OfCall. Where one names a summarizer that the tenant of the context may not use, there is none with this
// name.
func (r *Resolver) Resolve(ctx context.Context, given ...*compactordv1.Policy) (*compactordv1.Policy, error) {
	set := r.Set()
	resolved, err := strategies.Resolve(append([]*compactordv1.Policy{set.Default}, given...)...)
	if errors.Is(err, strategies.ErrUnknown) {
		return nil, r.SetFor(ctx).unknownPreset(given)
	}
	if err != nil {
		return nil, err
	}
	names := slices.ContainsFunc(given, func(p *compactordv1.Policy) bool {
		return p.GetSummary() != nil && p.GetSummary().Summarizer != nil
	})
	return resolved, r.check(resolved, func(name string) bool {
		// The default one is no name of the caller's: it is refused where it would have to write.
		return r.Allowances.MayUse(ctx, name) || !names && name == resolved.GetSummary().GetSummarizer()
	})
}

// ResolveGiven resolves the policy that the caller of the context gives to a session, as Resolve does. Where it says who
// writes summaries or what they are sent, the caller must be allowed that.
func (r *Resolver) ResolveGiven(ctx context.Context, given *compactordv1.Policy) (*compactordv1.Policy, error) {
	resolved, err := r.Resolve(ctx, given)
	if err != nil {
		return nil, err
	}
	if s := given.GetSummary(); s != nil && (s.Summarizer != nil || s.PromptOverride != nil || s.Redact != nil) {
		if err := r.Allowances.Check(ctx, resolved.GetSummary()); err != nil {
			return nil, err
		}
	}
	return resolved, nil
}

// unknownPreset returns the error for the last preset that policies name.
func (s *Set) unknownPreset(given []*compactordv1.Policy) error {
	name := ""
	for _, p := range given {
		name = cmp.Or(p.GetPreset(), name)
	}
	return unknownName("policy.preset", fmt.Errorf("%w: preset %q%s; there are %s", strategies.ErrUnknown, name, misspelt.Of(name, s.Names()),
		strings.Join(s.Names(), ", ")), s.Names())
}

// Warnings says why a policy can never compact. given is the session's policy, and resolved what Resolve returned for it.
func (r *Resolver) Warnings(given, resolved *compactordv1.Policy) []*compactordv1.PolicyWarning {
	disabled := func(p *compactordv1.Policy) bool {
		t := p.GetTrigger()
		return t != nil && t.Enabled != nil && !t.GetEnabled()
	}
	return strategies.Warnings(resolved, disabled(r.Set().Default) || disabled(given))
}

// check refuses names that this daemon does not know, and strategies where they cannot be used. A summarizer that cannot be
// used is one that it does not know.
func (r *Resolver) check(p *compactordv1.Policy, canUse func(summarizer string) bool) error {
	for _, named := range namedStrategies(p) {
		if err := r.strategies.Supports(named.strategy); err != nil {
			return unknownName(named.field, err, r.strategies.Names())
		}
	}
	if err := strategies.CheckArrival(p); err != nil {
		return err
	}
	if err := editsOnly("policy.prune_strategy", p.GetPruneStrategy()); err != nil {
		return err
	}
	name := p.GetSummary().GetSummarizer()
	if _, err := r.summarizers.Get(name); err != nil || !canUse(name) {
		known := slices.DeleteFunc(r.summarizers.Names(), func(name string) bool { return !canUse(name) })
		err := fmt.Errorf("%w %q; known: %v", summarizers.ErrUnknown, name, known)
		return unknownName("policy.summary.summarizer", err, known)
	}
	return summaries.CheckTools(p.GetSummary())
}

// editsOnly refuses a strategy that only Compact may run, also where it is nested.
func editsOnly(field string, s *compactordv1.Strategy) error {
	for n := range strategies.Nested(s) {
		at := field
		if n.Path != "" {
			at += "." + n.Path
		}
		switch {
		case strategies.Cuts(n.Strategy):
			return apierror.InvalidField(at, "`"+strategies.KindOf(n.Strategy)+"` cuts: use it with Compact")
		case strategies.NeedsSummarizer(n.Strategy):
			return apierror.InvalidField(at, "`"+strategies.KindOf(n.Strategy)+"` needs a summarizer: use it with Compact")
		}
	}
	return nil
}

// namedStrategy is a strategy that the registry must know, with the policy's field that selects it.
type namedStrategy struct {
	field    string
	strategy *compactordv1.Strategy
}

func namedStrategies(p *compactordv1.Policy) []namedStrategy {
	all := make([]namedStrategy, 0, 2+len(p.GetOnUserMessage().GetStrategies()))
	all = append(all,
		namedStrategy{"policy.strategy", p.GetStrategy()}, namedStrategy{"policy.prune_strategy", p.GetPruneStrategy()})
	for i, each := range p.GetOnUserMessage().GetStrategies() {
		all = append(all, namedStrategy{fmt.Sprintf("policy.on_user_message.strategies[%d]", i), each})
	}
	return all
}

// unknownName adds to a registry's error the field of the name, and the known names.
func unknownName(field string, err error, known []string) error {
	var nested *strategies.NestedError
	if errors.As(err, &nested) {
		field, err = field+"."+nested.Path, nested.Err
	}
	e := apierror.From(err, "")
	e.Message = field + ": " + e.Message
	e.Metadata = map[string]string{"field": field, "known": strings.Join(known, ", ")}
	e.Fields = []apierror.FieldViolation{{Field: field, Description: err.Error()}}
	return e
}
