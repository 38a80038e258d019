// Package strategiestest draws strategies with parameters for property tests.
package strategiestest

import (
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Draw draws a number from a range that includes both bounds. The label says what it is for.
type Draw func(low, high int, label string) int

// Kind is what a strategy may do.
type Kind int

const (
	// Any may cut and use a summarizer.
	Any Kind = iota
	// EditsOnly does neither. Prune and policy.on_user_message accept only such strategies.
	EditsOnly
)

// Strategy draws a strategy of the contract, perhaps with nested ones. Its figures fit conversations of some hundred or
// thousand tokens.
func (d Draw) Strategy(kind Kind) *compactordv1.Strategy { return d.Nested(kind, 4) }

// Nested draws a strategy that nests at most this deep.
func (d Draw) Nested(kind Kind, deep int) *compactordv1.Strategy { return d.nested(kind, deep-1) }

func (d Draw) nested(kind Kind, depth int) *compactordv1.Strategy {
	leaves := []func() *compactordv1.Strategy{
		d.hide, d.mask, d.prune, d.clear, d.truncate, d.stripMedia, d.dropThinking, d.offload, d.dialogue,
	}
	if kind == Any {
		leaves = append(leaves, d.summarize, d.summarize, d.summarize, d.compress, d.foldSubtasks)
	}
	n := d(0, len(leaves)+1, "strategy")
	switch {
	case n < len(leaves):
		return leaves[n]()
	case depth == 0:
		return leaves[0]()
	case n == len(leaves):
		return d.firstEffective(kind, depth)
	default:
		return d.ladder(kind, depth)
	}
}

func (d Draw) firstEffective(kind Kind, depth int) *compactordv1.Strategy {
	p := &compactordv1.FirstEffectiveStrategy{}
	for range d(1, 3, "strategies") {
		p.Strategies = append(p.Strategies, d.nested(kind, depth-1))
	}
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_FirstEffective{FirstEffective: p}}
}

func (d Draw) ladder(kind Kind, depth int) *compactordv1.Strategy {
	p := &compactordv1.LadderStrategy{}
	for range d(1, 4, "rungs") {
		rung := &compactordv1.LadderStrategy_Rung{Strategy: d.nested(kind, depth-1)}
		if d(0, 2, "at ratio") == 0 {
			rung.AtRatio = proto.Float64(float64(d(0, 10, "ratio")) / 10)
		}
		p.Rungs = append(p.Rungs, rung)
	}
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_Ladder{Ladder: p}}
}

func (d Draw) summarize() *compactordv1.Strategy {
	p := &compactordv1.SummarizeStrategy{
		MaxSummaryTokens: proto.Uint32(uint32(d(64, 400, "max summary"))),
		Budget:           compactordv1.BudgetRule(d(1, 2, "budget")).Enum(),
		SplitTurn:        compactordv1.SplitTurn(d(1, 3, "split")).Enum(),
		CutDirection:     compactordv1.CutDirection(d(1, 2, "direction")).Enum(),
	}
	switch d(0, 4, "keep") {
	case 0:
		p.RecentTurns = d.number(1, 3, "turns")
	case 1:
		p.RecentMessages = d.number(1, 6, "messages")
	case 2:
		p.RecentToolGroups = d.number(1, 3, "groups")
	default:
		p.RecentTokens = d.number(0, 400, "tokens")
		p.ManualRecentTokens = d.perhaps(0, 200, "manual tokens")
	}
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_Summarize{Summarize: p}}
}

func (d Draw) hide() *compactordv1.Strategy {
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_HideToolResults{
		HideToolResults: &compactordv1.HideToolResultsStrategy{
			KeepGroups: d.number(0, 3, "groups"), KeepMessages: d.perhaps(0, 8, "messages"),
			MinimumTokens: d.perhaps(0, 100, "minimum"), MinChars: d.perhaps(0, 200, "characters"),
			ProtectedTools: d.tools(), ClearArguments: d.yesOrNo("arguments"), Placeholder: d.placeholder(),
		},
	}}
}

func (d Draw) mask() *compactordv1.Strategy {
	p := &compactordv1.MaskObservationsStrategy{
		ActiveFileGroups: d.perhaps(0, 3, "active files"),
		MinimumTokens:    d.perhaps(0, 100, "minimum"), MinChars: d.perhaps(0, 200, "characters"),
		ProtectedTools: d.tools(), ClearArguments: d.yesOrNo("arguments"), Placeholder: d.placeholder(),
	}
	p.KeepGroups, p.KeepTurns = d.groupsOrTurns(0, 3)
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_MaskObservations{MaskObservations: p}}
}

func (d Draw) prune() *compactordv1.Strategy {
	p := &compactordv1.PruneToolOutputsStrategy{
		KeepTokens:    d.number(0, 60, "keep tokens"),
		MinimumTokens: d.number(0, 20, "minimum"), MinChars: d.perhaps(0, 200, "characters"),
		ProtectedTools: d.tools(), ClearArguments: d.yesOrNo("arguments"), Placeholder: d.placeholder(),
	}
	p.KeepGroups, p.KeepTurns = d.groupsOrTurns(0, 2)
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_PruneToolOutputs{PruneToolOutputs: p}}
}

func (d Draw) clear() *compactordv1.Strategy {
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_ClearToolUses{
		ClearToolUses: &compactordv1.ClearToolUsesStrategy{
			KeepCalls: d.number(0, 3, "calls"), TriggerTokens: d.number(0, 300, "trigger"),
			MinimumTokens: d.perhaps(0, 50, "minimum"), MinChars: d.perhaps(0, 200, "characters"),
			ProtectedTools: d.tools(), ClearArguments: d.yesOrNo("arguments"), Placeholder: d.placeholder(),
		},
	}}
}

func (d Draw) truncate() *compactordv1.Strategy {
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_TruncateToolOutputs{
		TruncateToolOutputs: &compactordv1.TruncateToolOutputsStrategy{
			MaxChars: d.number(1, 300, "characters"), TailChars: d.perhaps(0, 100, "end"), ProtectedTools: d.tools(),
			KeepGroups: d.perhaps(0, 3, "groups"),
		},
	}}
}

func (d Draw) stripMedia() *compactordv1.Strategy {
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_StripMedia{
		StripMedia: &compactordv1.StripMediaStrategy{KeepNewest: d.perhaps(0, 3, "newest")},
	}}
}

func (d Draw) dropThinking() *compactordv1.Strategy {
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_DropThinking{
		DropThinking: &compactordv1.DropThinkingStrategy{KeepTurns: d.perhaps(0, 3, "turns")},
	}}
}

func (d Draw) compress() *compactordv1.Strategy {
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_CompressObservations{
		CompressObservations: &compactordv1.CompressObservationsStrategy{
			OverTokens: d.number(1, 100, "over"), KeepGroups: d.number(0, 2, "groups"),
		},
	}}
}

func (d Draw) foldSubtasks() *compactordv1.Strategy {
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_FoldSubtasks{
		FoldSubtasks: &compactordv1.FoldSubtasksStrategy{
			Bounds:       compactordv1.SubtaskBounds(d(1, 2, "bounds")).Enum(),
			KeepSubtasks: d.perhaps(0, 2, "sub-tasks"), MinimumTokens: d.number(1, 200, "minimum"),
		},
	}}
}

func (d Draw) offload() *compactordv1.Strategy {
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_Offload{
		Offload: &compactordv1.OffloadStrategy{
			OverTokens: d.number(1, 100, "over"), PreviewChars: d.perhaps(0, 100, "preview"),
			OverBytes: d.perhaps(1, 400, "bytes"), ProtectedTools: d.tools(), PartialReads: proto.Bool(d(0, 1, "partial") == 1),
		},
	}}
}

func (d Draw) dialogue() *compactordv1.Strategy {
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_DialogueOnly{
		DialogueOnly: &compactordv1.DialogueOnlyStrategy{
			KeepTurns: d.perhaps(0, 2, "turns"), ToolDigest: compactordv1.ToolDigest(d(1, 2, "digest")).Enum(),
			OutcomeChars: d.perhaps(0, 80, "outcome"),
		},
	}}
}

func (d Draw) number(low, high int, label string) *uint32 {
	return proto.Uint32(uint32(d(low, high, label)))
}

// groupsOrTurns sets one of the two, since they exclude each other.
func (d Draw) groupsOrTurns(low, high int) (groups, turns *uint32) {
	if d(0, 1, "by groups") == 1 {
		return d.number(low, high, "groups"), nil
	}
	return nil, d.number(low, high, "turns")
}

func (d Draw) yesOrNo(label string) *bool { return proto.Bool(d(0, 1, label) == 1) }

func (d Draw) perhaps(low, high int, label string) *uint32 {
	if d(0, 1, "no "+label) == 1 {
		return nil
	}
	return d.number(low, high, label)
}

func (d Draw) placeholder() *string {
	if d(0, 1, "own placeholder") == 0 {
		return nil
	}
	return proto.String("[hidden]")
}

func (d Draw) tools() []string {
	if d(0, 3, "protects a tool") > 0 {
		return nil
	}
	return []string{"read"}
}
