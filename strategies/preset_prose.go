package strategies

import (
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// prosePreset is ours.
var prosePreset = preset{
	name: "prose",
	does: "Compacts at 75 % of the window: keeps all text of user and assistant and all calls word for word, and cuts each " +
		"tool result but those of the last five tool groups to its first 300 and last 200 characters, with its reference. " +
		"Only if the context is then still at 49 % of the window, it summarizes all but the newest 20,000 tokens, or a " +
		"fifth of a small window.",
	change: func(p *compactordv1.Policy, l Limits) {
		p.Trigger.TriggerRatio = proto.Float64(0.75)
		cut := truncateBy(&compactordv1.TruncateToolOutputsStrategy{
			MaxChars: proto.Uint32(300), TailChars: proto.Uint32(200), KeepGroups: proto.Uint32(5),
		})
		p.PruneStrategy = cut
		p.Strategy = ladderOf(
			always(cut),
			from(0.49, cutBy(l, &compactordv1.SummarizeStrategy{RecentTokens: proto.Uint32(recentTokens(l.readable()))})),
		)
	},
	sources: []source{
		{"trigger.trigger_ratio", "that of `default`"},
		{"truncate_tool_outputs.max_chars", "with the end 500 characters of a result, as in CliffCompaction (2609.26779). " +
			"transparent-compact (2610.20116) also keeps all text word for word, and results so that they can be recalled"},
		{"truncate_tool_outputs.tail_chars", "ours: errors and totals come last"},
		{"truncate_tool_outputs.keep_groups", "KLIP-13, as `default` prunes"},
		{"ladder.rungs.at_ratio", "ours: two thirds of the trigger, so that a third is free afterwards, as after a cut"},
		{"summarize.recent_tokens", "as in `default`"},
	},
}
