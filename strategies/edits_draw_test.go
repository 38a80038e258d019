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
