package strategies

import (
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

const researchNote = "xbot's research note on context management, 2026-03-19, which describes it"

var claudeCodePreset = preset{
	name: "claude_code",
	does: "Compacts at 70 % of the window, or when less than the output limit is left of it. Collapses the tool groups of " +
		"finished turns, and keeps the last three turns beside the summary.",
	reproduces: "Claude Code",
	from:       researchNote,
	deviations: []string{
		"A collapsed tool group leaves a line for each call; its results can be recalled.",
		"Its own prompts and its model's summary are not reproduced.",
	},
	change: func(p *compactordv1.Policy, l Limits) {
		buffer := l.MaxOutput
		if buffer == 0 {
			buffer = defaultReserve
		}
		p.Trigger.TriggerRatio = proto.Float64(0.70)
		// What the window has beyond the input limit is already for the answer.
		beyond := l.Window - l.readable()
		p.Trigger.ReserveTokens = proto.Uint32(share(l.readable(), 50, buffer-min(buffer, beyond)))
		if l.Window > 0 {
			p.Trigger.TargetTokens = proto.Uint32(1)
		}
		p.Strategy = ladderOf(
			always(collapseBy(&compactordv1.DialogueOnlyStrategy{
				KeepTurns:  proto.Uint32(0),
				ToolDigest: compactordv1.ToolDigest_TOOL_DIGEST_LINE.Enum(),
			})),
			always(cutBy(l, &compactordv1.SummarizeStrategy{
				RecentTurns: proto.Uint32(3),
				SplitTurn:   compactordv1.SplitTurn_SPLIT_TURN_JOIN_HEAD.Enum(),
			})),
		)
	},
	sources: []source{
		{"trigger.trigger_ratio", "the middle of the 64 to 75 % at which it is said to compact"},
		{"trigger.reserve_tokens", "its completion buffer: the output limit, 16,384 where that is unknown, at most half of " +
			"the window"},
		{"trigger.target_tokens", "so low that both rungs always run"},
		{"dialogue_only.keep_turns", "tool trajectories are summarized and not kept"},
		{"summarize.recent_turns", "the last few turns"},
		{"summarize.max_summary_tokens", "ours, that of `pi`"},
	},
}

var maskingPreset = preset{
	name: "masking",
	does: "Hides the results of all but the last ten tool groups. If that leaves the context above 65 % of the window, it " +
		"summarizes all but the newest 20,000 tokens. A manual compaction always summarizes.",
	reproduces: "observation masking, a study by JetBrains Research",
	from:       researchNote,
	deviations: []string{
		"The study masks at every step. This preset does so when compaction is due, and only if that hides enough, so that " +
			"the prefix of the view stays unchanged in between.",
		"If the last ten groups and the dialogue are still too much, a summary is written, so that the context does not " +
			"overflow.",
		"What masking alone leaves can be up to 65 % of the window, not two thirds of the trigger: with less, the last ten groups, " +
			"which the study keeps whole, would mostly be summarized. It frees a tenth of the window at least.",
	},
	change: func(p *compactordv1.Policy, l Limits) {
		p.Trigger.TriggerRatio = proto.Float64(0.75)
		if l.Window > 0 {
			p.Trigger.TargetTokens = proto.Uint32(max(1, percent(l.readable(), 65)))
		}
		p.Strategy = ladderOf(
			always(maskingOf(l)),
			always(cutBy(l, &compactordv1.SummarizeStrategy{RecentTokens: proto.Uint32(recentTokens(l.readable()))})),
		)
		p.PruneStrategy = maskingOf(l)
	},
	sources: []source{
		{"trigger.trigger_ratio", "ours, klaude-code's 0.75"},
		{"trigger.target_tokens", "ours: 0.65 of the window, so that masking alone is mostly enough, and not due again at once"},
		{"mask_observations.keep_groups", "the study: a window of 10 did best"},
		{"mask_observations.minimum_tokens", "ours: a tenth of the window, at most opencode's 20,000"},
		{"summarize.recent_tokens", recentSource},
	},
}

func maskingOf(l Limits) *compactordv1.Strategy {
	return maskBy(&compactordv1.MaskObservationsStrategy{
		KeepGroups:    proto.Uint32(10),
		MinimumTokens: proto.Uint32(share(l.readable(), 10, defaultMinimumTokens)),
	})
}

var hybridPreset = preset{
	name:       "hybrid",
	does:       "Summarizes 21 tool groups at a time and keeps the last 10: compaction is due at 31.",
	reproduces: "the summary with a tail that a study by JetBrains Research recommends",
	from:       researchNote,
	deviations: []string{
		"Compaction is also due at 75 % of the window: 31 groups can be more than it holds.",
	},
	change: func(p *compactordv1.Policy, l Limits) {
		p.Trigger.TriggerRatio = proto.Float64(0.75)
		p.Trigger.TriggerToolGroups = proto.Uint32(31)
		p.Strategy = cutBy(l, &compactordv1.SummarizeStrategy{
			RecentToolGroups: proto.Uint32(10),
			SplitTurn:        compactordv1.SplitTurn_SPLIT_TURN_JOIN_HEAD.Enum(),
		})
	},
	sources: []source{
		{"trigger.trigger_ratio", "ours, klaude-code's 0.75"},
		{"trigger.trigger_tool_groups", "the study: 21 steps are summarized at once, and 10 stay"},
		{"summarize.recent_tool_groups", "the study: the last 10 stay whole"},
	},
}
