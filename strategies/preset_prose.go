package strategies

import (
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// prosePreset is ours.
var prosePreset = preset{
	name: "prose",
	does: "Compacts when the conversation has 45,000 tokens, or at 75 % of a smaller window, as `default` does: keeps all text of " +
		"user and assistant and all calls word for word, and cuts each tool result but those of the last five tool groups to " +
		"its first 600 and last 300 characters, with its reference. If that does not bring the context to half of the trigger, " +
		"it summarizes all but the newest 11,250 tokens, or a quarter of a lower trigger.",
	change: func(p *compactordv1.Policy, l Limits) {
		compactWhereCheapest(p, l)
		if l.Window > 0 {
			p.Trigger.TargetTokens = proto.Uint32(max(1, percent(defaultTrigger(l.readable()), 50)))
		}
		cut := truncateBy(&compactordv1.TruncateToolOutputsStrategy{
			MaxChars: proto.Uint32(600), TailChars: proto.Uint32(300), KeepGroups: proto.Uint32(5),
		})
		p.PruneStrategy = cut
		p.Strategy = ladderOf(always(cut), always(cutWhereCheapest(l)))
	},
	sources: []source{
		{"trigger.trigger_ratio", "that of `default`"},
		{"trigger.trigger_conversation_tokens", "that of `default`, from the [cost model](cost.md#the-preset-prose)"},
		{"trigger.target_tokens", "ours: half of the trigger. Below it cut results leave as much space as a summary does"},
		{"truncate_tool_outputs.max_chars", "ours: a few hundred characters, as in CliffCompaction (2609.26779). " +
			"transparent-compact (2610.20116) also keeps all text word for word, and results so that they can be recalled"},
		{"truncate_tool_outputs.tail_chars", "ours: errors and totals come last"},
		{"truncate_tool_outputs.keep_groups", "KLIP-13, as `default` prunes"},
		{"summarize.recent_tokens", "that of `default`"},
		{"summarize.max_summary_tokens", "that of `default`"},
	},
}
