package strategies

import (
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var aconPreset = preset{
	name: "acon",
	does: "Compacts at 75 % of the window: the summarizer shortens long tool results, with the last request in mind. If that " +
		"does not bring the context to 40 %, it summarizes all but the newest 20,000 tokens.",
	reproduces: "Acon, which compresses observations and the history",
	from:       "arXiv 2510.00615, and " + researchNote,
	deviations: []string{
		"Acon shortens each long observation as it comes. This preset does so when compaction is due, so that the prefix of the " +
			"view stays unchanged in between, and the results of the last three tool groups stay whole.",
		"Acon improves its guidelines by tasks that failed with them. Here you give your own as the strategy's `guidelines`; by " +
			"default there are none.",
		"With `extractive`, which is no model, results are shortened by rules. Name a model in `summary.summarizer`.",
		"Prune never uses a summarizer: it hides old tool results.",
	},
	change: func(p *compactordv1.Policy, l Limits) {
		p.Trigger.TriggerRatio = proto.Float64(0.75)
		p.Strategy = ladderOf(
			always(&compactordv1.Strategy{Kind: &compactordv1.Strategy_CompressObservations{
				CompressObservations: &compactordv1.CompressObservationsStrategy{
					OverTokens: proto.Uint32(defaultCompressTokens),
					KeepGroups: proto.Uint32(defaultCompressGroups),
					Guidelines: proto.String(""),
				},
			}}),
			always(cutBy(l, &compactordv1.SummarizeStrategy{RecentTokens: proto.Uint32(recentTokens(l.readable()))})),
		)
	},
	sources: []source{
		{"trigger.trigger_ratio", "ours, klaude-code's 0.75"},
		{"compress_observations.over_tokens", "ours: shortening smaller results gains little, and each costs a request"},
		{"compress_observations.keep_groups", "ours: what the agent works on stays whole"},
		{"compress_observations.guidelines", "the caller's"},
		{"summarize.recent_tokens", recentSource},
	},
}
