package strategies

import (
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// defaultPreset is ours.
var defaultPreset = preset{
	name: DefaultPreset,
	does: "Compacts at 75 % of the window: hides the results of all but the last five tool groups, drops the thinking of " +
		"earlier turns and replaces old media; and where that does not bring the context to 40 %, summarizes all but the " +
		"newest 20,000 tokens, or 35 % of a smaller window.",
	change: func(p *compactordv1.Policy, l Limits) {
		p.Trigger.TriggerRatio = proto.Float64(0.75)
		p.PruneStrategy = pruneBy(defaultPrune(l))
		p.Strategy = ladderOf(
			always(pruneBy(defaultPrune(l))),
			always(&compactordv1.Strategy{Kind: &compactordv1.Strategy_DropThinking{
				DropThinking: &compactordv1.DropThinkingStrategy{KeepTurns: proto.Uint32(1)},
			}}),
			always(&compactordv1.Strategy{Kind: &compactordv1.Strategy_StripMedia{
				StripMedia: &compactordv1.StripMediaStrategy{KeepNewest: proto.Uint32(2)},
			}}),
			always(cutBy(l, &compactordv1.SummarizeStrategy{RecentTokens: proto.Uint32(recentTokens(l.Window))})),
		)
	},
	sources: []source{
		{"trigger.trigger_ratio", "klaude-code. The rest is for the answer, and for what tools bring before the next look " +
			"at the report"},
		{"summarize.recent_tokens", "Pi's 20,000, but at most klaude-code's 35 % of the window and not under its 4,096, " +
			"unless that is half of it"},
		{"prune_tool_outputs.protect_groups", "KLIP-13. Groups and not turns: an agent that is given one task works it off " +
			"within one turn, which turns would protect whole"},
		{"prune_tool_outputs.protect_tokens", "opencode's 40,000, which is a fifth of a window of 200,000; at most a fifth, " +
			"since in a smaller one it would protect all there is"},
		{"prune_tool_outputs.minimum_tokens", "opencode's 20,000, at most a tenth of the window"},
		{"drop_thinking.keep_turns", "ours: the turn that runs thinks on what it thought before"},
		{"strip_media.keep_newest", "ours: what was seen last, and what it is compared with"},
	},
}

func defaultPrune(l Limits) *compactordv1.PruneToolOutputsStrategy {
	return &compactordv1.PruneToolOutputsStrategy{
		ProtectGroups: proto.Uint32(5),
		ProtectTokens: proto.Uint32(share(l.Window, 20, defaultProtectTokens)),
		MinimumTokens: proto.Uint32(share(l.Window, 10, defaultMinimumTokens)),
	}
}
