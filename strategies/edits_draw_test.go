package strategies_test

import (
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func truncating(p *compactordv1.TruncateToolOutputsStrategy) *compactordv1.Strategy {
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_TruncateToolOutputs{TruncateToolOutputs: p}}
}

func offloading(p *compactordv1.OffloadStrategy) *compactordv1.Strategy {
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_Offload{Offload: p}}
}

func truncateOf(t *rapid.T) *compactordv1.Strategy {
	p := &compactordv1.TruncateToolOutputsStrategy{
		MaxChars:       proto.Uint32(rapid.SampledFrom([]uint32{1, 20, 300, 2000}).Draw(t, "max_chars")),
		ProtectedTools: protectedOf(t),
		TailChars:      optional(t, "tail_chars", 0, 300),
	}
	if rapid.Bool().Draw(t, "short") {
		p.Placeholder = proto.String("[{omitted} gone]")
	}
	return truncating(p)
}

func offloadOf(t *rapid.T) *compactordv1.Strategy {
	return offloading(&compactordv1.OffloadStrategy{
		OverTokens:     proto.Uint32(rapid.SampledFrom([]uint32{1, 29, 200, 999}).Draw(t, "over_tokens")),
		PreviewChars:   optional(t, "preview_chars", 0, 200),
		OverBytes:      optional(t, "over_bytes", 1, 4000),
		ProtectedTools: protectedOf(t),
		PartialReads:   new(rapid.Bool().Draw(t, "partial_reads")),
	})
}

func stripping(p *compactordv1.StripMediaStrategy) *compactordv1.Strategy {
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_StripMedia{StripMedia: p}}
}

func dropping(p *compactordv1.DropThinkingStrategy) *compactordv1.Strategy {
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_DropThinking{DropThinking: p}}
}

func compressing(p *compactordv1.CompressObservationsStrategy) *compactordv1.Strategy {
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_CompressObservations{CompressObservations: p}}
}

func foldingSubtasks(p *compactordv1.FoldSubtasksStrategy) *compactordv1.Strategy {
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_FoldSubtasks{FoldSubtasks: p}}
}

func collapsing(p *compactordv1.DialogueOnlyStrategy) *compactordv1.Strategy {
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_DialogueOnly{DialogueOnly: p}}
}

func stripOf(t *rapid.T) *compactordv1.Strategy {
	return stripping(&compactordv1.StripMediaStrategy{KeepNewest: optional(t, "keep_newest", 0, 4)})
}

func dropOf(t *rapid.T) *compactordv1.Strategy {
	return dropping(&compactordv1.DropThinkingStrategy{KeepTurns: optional(t, "keep_turns", 0, 3)})
}

func compressOf(t *rapid.T) *compactordv1.Strategy {
	return compressing(&compactordv1.CompressObservationsStrategy{
		OverTokens: proto.Uint32(rapid.SampledFrom([]uint32{1, 29, 200, 999}).Draw(t, "over_tokens")),
		KeepGroups: optional(t, "keep_groups", 0, 3),
	})
}

func foldSubtasksOf(t *rapid.T) *compactordv1.Strategy {
	return foldingSubtasks(&compactordv1.FoldSubtasksStrategy{
		Bounds:        new(rapid.SampledFrom([]compactordv1.SubtaskBounds{0, 1, 2}).Draw(t, "bounds")),
		KeepSubtasks:  optional(t, "keep_subtasks", 0, 1),
		MinimumTokens: proto.Uint32(rapid.SampledFrom([]uint32{1, 30, 200}).Draw(t, "minimum_tokens")),
	})
}

func collapsingOf(t *rapid.T) *compactordv1.Strategy {
	return collapsing(&compactordv1.DialogueOnlyStrategy{
		KeepTurns:    optional(t, "keep_turns", 0, 3),
		ToolDigest:   new(rapid.SampledFrom([]compactordv1.ToolDigest{0, 1, 2}).Draw(t, "tool_digest")),
		OutcomeChars: optional(t, "outcome_chars", 0, 300),
	})
}
