package strategies

import (
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/wording"
)

var kimiPreset = preset{
	name: "kimi",
	does: "Compacts at 85 % of the window, or when less than 50,000 tokens of it are left. Keeps the last two user and " +
		"assistant messages.",
	reproduces: "kimi-cli",
	from:       "kimi-cli 1.49.0",
	deviations: []string{
		"The reserve is at most half of the window: kimi-cli compacts at every step in a window of 50,000 and less.",
		"With an unknown window it is never due, instead of always.",
		"Where nothing is to be compacted, nothing is written; kimi-cli rotates its file anyway.",
		"Announced checkpoints do not count as messages to keep.",
		"The summarizer also reads the calls of the summarized part, and not only its text.",
		"The summary's budget is that of `pi`; kimi-cli only limits it to what fits into the next request.",
	},
	change: func(p *compactordv1.Policy, l Limits) {
		kimiTrigger(p, l)
		p.Strategy = kimiSummary(l)
		kimiSections(p)
	},
	sources: kimiSources,
}

var kimiSources = []source{
	{"trigger.trigger_ratio", "`compaction_trigger_ratio`"},
	{"trigger.reserve_tokens", "`reserved_context_size` 50,000; at most half of the window"},
	{"summarize.recent_messages", "`max_preserved_messages`"},
	{"summarize.max_summary_tokens", "ours, that of `pi`"},
}

func kimiTrigger(p *compactordv1.Policy, l Limits) {
	p.Trigger.TriggerRatio = proto.Float64(0.85)
	p.Trigger.ReserveTokens = proto.Uint32(share(l.readable(), 50, 50_000))
}

// kimiSections sets kimi-cli's sections, and leaves thinking out of the summarizer's input.
func kimiSections(p *compactordv1.Policy) {
	p.Summary.Sections = &compactordv1.SectionList{Sections: []*compactordv1.Section{
		{Title: "Current Focus", Role: compactordv1.SectionRole_SECTION_ROLE_IN_PROGRESS},
		{Title: "Environment", Role: compactordv1.SectionRole_SECTION_ROLE_ENVIRONMENT},
		{Title: "Completed Tasks", Role: compactordv1.SectionRole_SECTION_ROLE_DONE},
		{Title: "Active Issues", Role: compactordv1.SectionRole_SECTION_ROLE_PROBLEMS},
		{Title: "Code State", Role: compactordv1.SectionRole_SECTION_ROLE_CODE},
		{Title: "Important Context", Role: compactordv1.SectionRole_SECTION_ROLE_CONTEXT},
	}}
	p.Summary.Input.Thinking = proto.Bool(false)
}

func kimiSummary(l Limits) *compactordv1.Strategy {
	return cutBy(l, &compactordv1.SummarizeStrategy{
		RecentMessages: proto.Uint32(2),
		SplitTurn:      compactordv1.SplitTurn_SPLIT_TURN_JOIN_HEAD.Enum(),
	})
}

var klip13Preset = preset{
	name: "klip13",
	does: "Compacts when `kimi` does: hides the results of all but the last five tool groups. If that does not bring " +
		"the context under the trigger, it summarizes as `kimi` does.",
	reproduces: "KLIP-13, a proposal for kimi-cli",
	from:       "the draft of KLIP-13, 2026-01-22",
	deviations: []string{
		"Whether hiding was enough is measured. The draft summarizes only where nothing was left to hide, so a group that " +
			"ages out each time would keep the summary from ever running.",
		"Hiding must be worth it: if it would hide less than a tenth of the window, it summarizes.",
		"What hiding alone leaves can be more than two thirds of the trigger, as under the draft: it is enough where it is below " +
			"the trigger.",
	},
	change: func(p *compactordv1.Policy, l Limits) {
		kimiTrigger(p, l)
		p.Strategy = &compactordv1.Strategy{Kind: &compactordv1.Strategy_FirstEffective{
			FirstEffective: &compactordv1.FirstEffectiveStrategy{
				Strategies: []*compactordv1.Strategy{klip13Hide(l), kimiSummary(l)},
			},
		}}
		p.PruneStrategy = klip13Hide(l)
		kimiSections(p)
	},
	sources: append([]source{
		{"hide_tool_results.keep_groups", "`preserve_recent_n`"},
		{"hide_tool_results.placeholder", "the draft's literal, in its system tag, and how to have the result back"},
		{"hide_tool_results.minimum_tokens", "ours: a tenth of the window, at most opencode's 20,000"},
	}, kimiSources...),
}

func klip13Hide(l Limits) *compactordv1.Strategy {
	return hideBy(&compactordv1.HideToolResultsStrategy{
		KeepGroups:    proto.Uint32(5),
		MinimumTokens: proto.Uint32(share(l.readable(), 10, defaultMinimumTokens)),
		Placeholder:   proto.String("<system>历史 tool_call已隐藏</system>" + wording.RecallMark),
	})
}
