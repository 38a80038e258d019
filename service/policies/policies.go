// Package policies resolves the policies of sessions and calls, and refuses those that this daemon cannot carry out.
package policies

import (
	"context"
	"errors"
	"fmt"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/allowance"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/summaries"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/summarizers"
)

// Resolver resolves policies.
type Resolver struct {
	// Default is the policy that applies where a session's own policy sets nothing. May be nil.
	Default *compactordv1.Policy
	// Strategies and Summarizers are those that policies can name.
	Strategies  *strategies.Registry
	Summarizers *summarizers.Registry
	// Allowances say who may use which summarizer, and how.
	Allowances *allowance.Allowances
}

// Resolve resolves the daemon's default policy and the given policies. Each overrides those before it.
func (r *Resolver) Resolve(given ...*compactordv1.Policy) (*compactordv1.Policy, error) {
	resolved, err := strategies.Resolve(append([]*compactordv1.Policy{r.Default}, given...)...)
	if errors.Is(err, strategies.ErrUnknown) {
		return nil, unknownName("policy.preset", err, strategies.PresetNames())
	}
	if err != nil {
		return nil, err
	}
	return resolved, r.check(resolved)
}

// ResolveGiven resolves the policy that the caller of the context gives to a session, as Resolve does. Where it says who
// writes summaries or what they are sent, the caller must be allowed that.
func (r *Resolver) ResolveGiven(ctx context.Context, given *compactordv1.Policy) (*compactordv1.Policy, error) {
	resolved, err := r.Resolve(given)
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

// Warnings says why a policy can never compact. given is the session's policy, and resolved what Resolve returned for it.
func (r *Resolver) Warnings(given, resolved *compactordv1.Policy) []*compactordv1.PolicyWarning {
	disabled := func(p *compactordv1.Policy) bool {
		t := p.GetTrigger()
		return t != nil && t.Enabled != nil && !t.GetEnabled()
	}
	return strategies.Warnings(resolved, disabled(r.Default) || disabled(given))
}

// check refuses names that this daemon does not know, and strategies where they cannot be used.
func (r *Resolver) check(p *compactordv1.Policy) error {
	for _, named := range namedStrategies(p) {
		if err := r.Strategies.Supports(named.strategy); err != nil {
			return unknownName(named.field, err, r.Strategies.Names())
		}
	}
	if err := strategies.CheckArrival(p); err != nil {
		return err
	}
	if err := editsOnly("policy.prune_strategy", p.GetPruneStrategy()); err != nil {
		return err
	}
	if _, err := r.Summarizers.Get(p.GetSummary().GetSummarizer()); err != nil {
		return unknownName("policy.summary.summarizer", err, r.Summarizers.Names())
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
