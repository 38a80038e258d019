package strategies

import (
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// The strategies of the presets, with the parameters that most presets share.

// cutBy returns summarize with these parameters.
func cutBy(l Limits, p *compactordv1.SummarizeStrategy) *compactordv1.Strategy {
	if p.Budget == nil {
		p.Budget = compactordv1.BudgetRule_BUDGET_RULE_AT_LEAST.Enum()
	}
	if p.SplitTurn == nil {
		p.SplitTurn = compactordv1.SplitTurn_SPLIT_TURN_SUMMARY.Enum()
	}
	if p.CutDirection == nil {
		p.CutDirection = compactordv1.CutDirection_CUT_DIRECTION_FORWARD.Enum()
	}
	if p.MaxSummaryTokens == nil {
		p.MaxSummaryTokens = proto.Uint32(summaryTokens(reserveTokens(l.readable())))
	}
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_Summarize{Summarize: p}}
}

func pruneBy(p *compactordv1.PruneToolOutputsStrategy) *compactordv1.Strategy {
	if p.ClearArguments == nil {
		p.ClearArguments = proto.Bool(false)
	}
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_PruneToolOutputs{PruneToolOutputs: p}}
}

func maskBy(p *compactordv1.MaskObservationsStrategy) *compactordv1.Strategy {
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_MaskObservations{MaskObservations: p}}
}

func hideBy(p *compactordv1.HideToolResultsStrategy) *compactordv1.Strategy {
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_HideToolResults{HideToolResults: p}}
}

func truncateBy(p *compactordv1.TruncateToolOutputsStrategy) *compactordv1.Strategy {
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_TruncateToolOutputs{TruncateToolOutputs: p}}
}

func collapseBy(p *compactordv1.DialogueOnlyStrategy) *compactordv1.Strategy {
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_DialogueOnly{DialogueOnly: p}}
}

func offloadBy(p *compactordv1.OffloadStrategy) *compactordv1.Strategy {
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_Offload{Offload: p}}
}

func listOf(list ...*compactordv1.Strategy) *compactordv1.StrategyList {
	return &compactordv1.StrategyList{Strategies: list}
}

func ladderOf(rungs ...*compactordv1.LadderStrategy_Rung) *compactordv1.Strategy {
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_Ladder{Ladder: &compactordv1.LadderStrategy{Rungs: rungs}}}
}

// always returns a rung that is never skipped.
func always(s *compactordv1.Strategy) *compactordv1.LadderStrategy_Rung {
	return &compactordv1.LadderStrategy_Rung{Strategy: s}
}

// from returns a rung that is skipped while the context is below a share of the window.
func from(ratio float64, s *compactordv1.Strategy) *compactordv1.LadderStrategy_Rung {
	return &compactordv1.LadderStrategy_Rung{Strategy: s, AtRatio: &ratio}
}
