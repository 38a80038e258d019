package strategies

import (
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// defaultPreset is ours.
var defaultPreset = preset{
	name: DefaultPreset,
	does: "Compacts at 75 % of the window: hides the results of all but the last five tool groups, drops the thinking of " +
		"earlier turns and replaces old media. If that does not bring the context to 40 %, it summarizes all but the " +
		"newest 20,000 tokens, or a fifth of a small window.",
	change: func(p *compactordv1.Policy, l Limits) {
		p.Trigger.TriggerRatio = proto.Float64(0.75)
		p.Strategy = ladderOf(
			always(basePrune(l)),
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
		{"trigger.trigger_ratio", "klaude-code. The rest is for the answer, and for tool results that come before the next " +
			"report is read"},
		{"summarize.recent_tokens", "Pi's 20,000, but with the largest summary at most the target: in a window of less than " +
			"82,768 it is that less the summary, a fifth of a window of up to 65,536"},
		{"drop_thinking.keep_turns", "ours: the current turn needs its earlier thinking"},
		{"strip_media.keep_newest", "ours: the last image, and one to compare it with"},
	},
}
