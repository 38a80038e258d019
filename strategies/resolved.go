package strategies

import (
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Resolver is a Strategy whose parameters have defaults. Records contain the parameters with their defaults, so that
// they remain known after the defaults change.
type Resolver interface {
	Strategy
	// Resolved returns the parameters with all defaults filled in. It does not change the given ones.
	Resolved(policy *compactordv1.Policy, parameters *compactordv1.Strategy) *compactordv1.Strategy
}

// Resolved returns the parameters that Plan uses. Defaults are filled in if the strategy is a Resolver.
func (r *Registry) Resolved(policy *compactordv1.Policy, parameters *compactordv1.Strategy) *compactordv1.Strategy {
	s, err := r.selected(parameters)
	if err != nil {
		return parameters
	}
	if resolver, ok := s.(Resolver); ok {
		return resolver.Resolved(policy, parameters)
	}
	return r.resolvedWithin(policy, parameters)
}

// resolvedWithin resolves the parameters of nested strategies.
func (r *Registry) resolvedWithin(
	policy *compactordv1.Policy, parameters *compactordv1.Strategy,
) *compactordv1.Strategy {
	if !Nests(parameters) {
		return parameters
	}
	resolved := proto.CloneOf(parameters)
	for _, rung := range resolved.GetLadder().GetRungs() {
		rung.Strategy = r.Resolved(policy, rung.GetStrategy())
	}
	inner := resolved.GetFirstEffective().GetStrategies()
	for i, s := range inner {
		inner[i] = r.Resolved(policy, s)
	}
	return resolved
}

// Resolved implements Resolver.
func (Summarize) Resolved(policy *compactordv1.Policy, parameters *compactordv1.Strategy) *compactordv1.Strategy {
	p := &compactordv1.SummarizeStrategy{}
	if given := parameters.GetSummarize(); given != nil {
		p = proto.CloneOf(given)
	}
	if budget, holds := tokenBudget(policy, p, compactordv1.CompactionReason_COMPACTION_REASON_UNSPECIFIED); holds {
		p.RecentTokens = proto.Uint32(budget)
		if p.ManualRecentTokens == nil {
			p.ManualRecentTokens = proto.Uint32(budget)
		}
	}
	if p.GetBudget() == compactordv1.BudgetRule_BUDGET_RULE_UNSPECIFIED {
		p.Budget = compactordv1.BudgetRule_BUDGET_RULE_AT_LEAST.Enum()
	}
	if p.GetSplitTurn() == compactordv1.SplitTurn_SPLIT_TURN_UNSPECIFIED {
		p.SplitTurn = compactordv1.SplitTurn_SPLIT_TURN_SUMMARY.Enum()
	}
	if p.GetCutDirection() == compactordv1.CutDirection_CUT_DIRECTION_UNSPECIFIED {
		p.CutDirection = compactordv1.CutDirection_CUT_DIRECTION_FORWARD.Enum()
	}
	p.MaxSummaryTokens = proto.Uint32(maxSummaryTokens(policy, p))
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_Summarize{Summarize: p}}
}

// fill sets a parameter to its default if it is not given.
func fill[T any](parameter **T, otherwise T) {
	if *parameter == nil {
		*parameter = &otherwise
	}
}
