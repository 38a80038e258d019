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
		p.Strategy = ladderOf(
			always(commonPrune(l)),
			always(&compactordv1.Strategy{Kind: &compactordv1.Strategy_DropThinking{
				DropThinking: &compactordv1.DropThinkingStrategy{KeepTurns: proto.Uint32(1)},
			}}),
			always(&compactordv1.Strategy{Kind: &compactordv1.Strategy_StripMedia{
				StripMedia: &compactordv1.StripMediaStrategy{KeepNewest: proto.Uint32(2)},
			}}),
			always(cutBy(l, &compactordv1.SummarizeStrategy{RecentTokens: proto.Uint32(recentTokens(l.readable()))})),
		)
	},
	sources: []source{
		{"trigger.trigger_ratio", "klaude-code. The rest is for the answer, and for what tools bring before the next look " +
			"at the report"},
		{"summarize.recent_tokens", "Pi's 20,000, but at most klaude-code's 35 % of the window and not under its 4,096, " +
			"unless that is half of it"},
		{"drop_thinking.keep_turns", "ours: the turn that runs thinks on what it thought before"},
		{"strip_media.keep_newest", "ours: what was seen last, and what it is compared with"},
	},
}
