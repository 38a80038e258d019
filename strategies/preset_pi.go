package strategies

import (
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var piPreset = preset{
	name:       "pi",
	does:       "Compacts when less than the reserve is left, and keeps the newest 20,000 tokens. Prunes nothing by itself.",
	reproduces: "Pi",
	from:       "pi-mono, packages/coding-agent, version 0.58.3",
	deviations: []string{
		"Compaction is due at the trigger, not one token above it.",
		"With an unknown window it is never due, instead of always; in a window that is not larger than four reserves the " +
			"reserve is a quarter of it.",
		"What the last compaction kept is summarized by the next one, instead of being lost.",
		"Where no place to cut lies behind the message that reaches the budget, the nearest before it is taken, instead of " +
			"keeping everything.",
		"The summarizer reads 2,000 characters of a call's arguments too, and not all of them.",
		"An empty or cut off summary is refused, and the previous one is never dropped.",
		"The summary of a split turn shares the budget of the whole, instead of having half of the reserve on top.",
	},
	change: func(p *compactordv1.Policy, l Limits) {
		p.Strategy = cutBy(l, &compactordv1.SummarizeStrategy{RecentTokens: proto.Uint32(20_000)})
		p.Summary.Sections = compactordv1.SectionSet_SECTION_SET_PI.Enum()
		p.Summary.FileTags = proto.Bool(true)
		p.FileTools = piFileTools()
	},
	sources: []source{
		{"summarize.recent_tokens", "Pi, `compaction.keepRecentTokens`"},
	},
}
