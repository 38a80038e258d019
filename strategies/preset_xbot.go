package strategies

import (
	"math"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/wording"
)

var xbotPreset = preset{
	name: "xbot",
	does: "Offloads long tool results as they come, and removes the tool groups of a finished turn when the next one " +
		"begins. Hides results and clears arguments at 85 % of the size at which it summarizes. Summarizes at 70 % of the " +
		"window, and keeps the last ten turns.",
	reproduces: "xbot, as its document recommends",
	from:       "xbot's research note on context management, 2026-03-19",
	deviations: []string{
		"The log keeps the tool messages; only the view leaves them out.",
		"Offloaded results can be recalled as long as the session exists.",
		"The rule-based summary of an offloaded result is its beginning.",
		"Eviction at 85 % is of the 70 % at which it summarizes: of the window, as the document words it, it would come after the " +
			"summary, and the document wants results cut before anything is summarized.",
		"What eviction alone leaves can be more than two thirds of the trigger: it frees a tenth of the window at least. Where less " +
			"is to be evicted, a compaction below 70 % of the window answers BELOW_MINIMUM, and from there on it summarizes.",
		"By characters / 4 the limit of an offload in bytes is for text of several bytes a character: a Chinese one of 10,240 " +
			"bytes has 854 tokens. Other text reaches 2,000 tokens at 8,000 bytes.",
	},
	change: func(p *compactordv1.Policy, l Limits) {
		p.Trigger.TriggerRatio = proto.Float64(0.595)
		xbotSections(p)
		p.OnAppend = listOf(xbotOffload())
		p.OnUserMessage = listOf(collapseBy(&compactordv1.DialogueOnlyStrategy{
			KeepTurns:  proto.Uint32(0),
			ToolDigest: compactordv1.ToolDigest_TOOL_DIGEST_NOTHING.Enum(),
		}))
		p.PruneStrategy = xbotEvict(l)
		p.Strategy = ladderOf(
			always(xbotEvict(l)),
			from(0.70, cutBy(l, &compactordv1.SummarizeStrategy{
				RecentTurns: proto.Uint32(10),
				SplitTurn:   compactordv1.SplitTurn_SPLIT_TURN_JOIN_HEAD.Enum(),
			})),
		)
	},
	sources: append([]source{
		{"trigger.trigger_ratio", "its eviction at 85 %, of the 0.7 at which it summarizes"},
		{"summarize.recent_turns", "the last 10 turns whole"},
		{"ladder.rungs.at_ratio", "the middle of the document's 64 to 75 %"},
		{"prune_tool_outputs.keep_groups", "the 3 tool groups that its compaction kept"},
		{"prune_tool_outputs.keep_tokens", "no more than these groups"},
		{"prune_tool_outputs.minimum_tokens", "ours: a tenth of the window, at most opencode's 20,000"},
		{"dialogue_only.keep_turns", "after each turn only user and agent are left"},
	}, xbotOffloadSources...),
}

// xbotOffload offloads from the same sizes on as xbot's code: 2,000 tokens and 10,240 bytes.
func xbotOffload() *compactordv1.Strategy {
	return offloadBy(&compactordv1.OffloadStrategy{
		OverTokens:   proto.Uint32(1_999),
		OverBytes:    proto.Uint32(10_239),
		PreviewChars: proto.Uint32(300),
	})
}

var xbotOffloadSources = []source{
	{"offload.over_tokens", "its code: 2,000 tokens and more"},
	{"offload.over_bytes", "its code: 10,240 bytes and more"},
	{"offload.preview_chars", "its code: the first 300 characters, of tools without a summary of their own"},
}

func xbotEvict(l Limits) *compactordv1.Strategy {
	return pruneBy(&compactordv1.PruneToolOutputsStrategy{
		KeepGroups:     proto.Uint32(3),
		KeepTokens:     proto.Uint32(0),
		MinimumTokens:  proto.Uint32(share(l.readable(), 10, defaultMinimumTokens)),
		ClearArguments: proto.Bool(true),
	})
}

var xbotCurrentPreset = preset{
	name: "xbot_current",
	does: "Offloads long tool results as they come. Masks older results from 61 % of the window on, and more of them the fuller " +
		"it is. Hides long results at 65 %, and summarizes all but the last turn at 90 %, of what the output limit leaves of " +
		"the window.",
	reproduces: "xbot, as its code is",
	from:       "xbot at e8ee94ff, 2026-04-27",
	deviations: []string{
		"What is masked, snipped or offloaded can be recalled as long as the session exists; xbot deletes it when it compacts.",
		"Snipping comes before masking, as in xbot, but leaves results unchanged that a placeholder already replaces.",
		"It masks at 0.61, 0.71, 0.81 and 0.91 of the window; xbot above 0.6, 0.7, 0.8 and 0.9. `at_ratio` means at " +
			"least, and the next hundredth is a plain number.",
		"The summary has the frame of every summary here; xbot's follows `[Compacted context]`, and a user message tells " +
			"the model to go on.",
		"The summarizer reads 2,000 characters of each tool result and of each call's arguments; xbot's reads as many of each " +
			"line, and of calls the names.",
		"An input limit below the window replaces the window; the output limit is subtracted from the window.",
		"An unknown output limit counts as at most half of the window: with 8,192 xbot compacts at each step in a " +
			"window hardly larger than that.",
		"Masking and snipping alone can leave more than two thirds of the trigger: each free a tenth of the window at least, the " +
			"fuller it is the more, as in xbot.",
		"A single turn that reaches the trigger is split; xbot never compacts it.",
		"The last turn is kept from its user message on, also after an answer without calls.",
		"Instead of a pause of five checks after a compaction a tenth of the window has to be new, and after three compactions " +
			"that did not help there is the breaker.",
		"A cancelled or failed compaction changes nothing; xbot clears and writes the session in two steps.",
	},
	change: func(p *compactordv1.Policy, l Limits) {
		budget := xbotBudget(l)
		ofWindow := func(float64) float64 { return 1 }
		if l.Window > 0 {
			ofWindow = func(share float64) float64 { return share * float64(budget) / float64(l.readable()) }
			// Compaction is due at the lowest of the three, where the first rung has something to do.
			lowest := min(math.Ceil(0.9*float64(budget)), math.Floor(0.65*float64(budget))+1)
			p.Trigger.TriggerTokens = proto.Uint32(max(1, uint32(lowest)))
			p.Trigger.TargetTokens = proto.Uint32(1)
		}
		p.Trigger.TriggerRatio, p.Trigger.ReserveTokens = proto.Float64(0.61), nil
		xbotSections(p)
		p.OnAppend = listOf(xbotOffload())
		p.PruneStrategy = xbotMask(l, 12)
		p.Strategy = ladderOf(
			from(ofWindow(0.9), cutBy(l, &compactordv1.SummarizeStrategy{
				RecentTurns: proto.Uint32(1),
				SplitTurn:   compactordv1.SplitTurn_SPLIT_TURN_JOIN_HEAD.Enum(),
			})),
			from(ofWindow(0.65), hideBy(&compactordv1.HideToolResultsStrategy{
				KeepGroups:    proto.Uint32(0),
				KeepMessages:  proto.Uint32(8),
				MinChars:      proto.Uint32(501),
				MinimumTokens: proto.Uint32(share(l.readable(), 10, defaultMinimumTokens)),
				Placeholder:   proto.String("[Old tool result cleared to save context]" + wording.RecallMark),
			})),
			from(0.91, xbotMask(l, 3)), from(0.81, xbotMask(l, 5)), from(0.71, xbotMask(l, 8)), from(0.61, xbotMask(l, 12)),
		)
	},
	sources: append([]source{
		{"trigger.trigger_ratio", "masking, above 60 % of the window"},
		{"trigger.trigger_tokens", "the lower of where it summarizes (0.9 of the window less the output limit, 8,192 where " +
			"that is unknown, at most half of the window) and where it snips (above 0.65 of that)"},
		{"trigger.target_tokens", "so low that no rung is left out for it: xbot knows no target"},
		{"ladder.rungs.at_ratio", "summarize at 0.9 and snip at 0.65 of the window less the output limit; mask above 0.9, 0.8, " +
			"0.7 and 0.6 of the window"},
		{"summarize.recent_turns", "all since the last user message"},
		{"summarize.max_summary_tokens", "ours, that of `pi`: xbot names a length in its instruction only"},
		{"hide_tool_results.keep_groups", "any group"},
		{"hide_tool_results.keep_messages", "the last 8 messages"},
		{"hide_tool_results.min_chars", "over 500 bytes; ours are characters"},
		{"hide_tool_results.placeholder", "its literal, and how to have the result back"},
		{"mask_observations.keep_groups", "3 groups above 90 % of the window, 5 above 80 %, 8 above 70 %, 12 above 60 %"},
		{"mask_observations.min_chars", "300 runes and more"},
		{"minimum_tokens", "ours: a tenth of the window, at most opencode's 20,000, so that not every step rewrites the view"},
		{"mask_observations.active_file_groups", "the files of the last 3 tool rounds"},
	}, xbotOffloadSources...),
}

// xbotSections sets xbot's sections, and leaves thinking out of the summarizer's input.
func xbotSections(p *compactordv1.Policy) {
	p.Summary.Sections = &compactordv1.SectionList{Sections: []*compactordv1.Section{
		{Title: "Historical Context", Role: compactordv1.SectionRole_SECTION_ROLE_CONTEXT},
		{Title: "Task Summary", Role: compactordv1.SectionRole_SECTION_ROLE_GOAL},
		{Title: "Key Decisions", Role: compactordv1.SectionRole_SECTION_ROLE_DECISIONS},
		{Title: "Active Files", Role: compactordv1.SectionRole_SECTION_ROLE_FILES},
		{Title: "Errors & Fixes", Role: compactordv1.SectionRole_SECTION_ROLE_PROBLEMS},
		{Title: "Recent Work", Role: compactordv1.SectionRole_SECTION_ROLE_DONE},
		{Title: "Next Steps", Role: compactordv1.SectionRole_SECTION_ROLE_NEXT_STEPS},
	}}
	p.Summary.Input.Thinking = proto.Bool(false)
}

func xbotMask(l Limits, groups uint32) *compactordv1.Strategy {
	return maskBy(&compactordv1.MaskObservationsStrategy{
		KeepGroups:       proto.Uint32(groups),
		MinChars:         proto.Uint32(300),
		ActiveFileGroups: proto.Uint32(3),
		MinimumTokens:    proto.Uint32(share(l.readable(), 10, defaultMinimumTokens)),
	})
}

// xbotBudget returns what can be read beside the output limit. If that is nothing, it returns half of the window.
func xbotBudget(l Limits) uint32 {
	output := l.MaxOutput
	if output == 0 {
		// In a window that is hardly larger, compaction would be due at each request.
		output = min(8_192, l.Window/2)
	}
	if output >= l.Window {
		return l.readable() / 2
	}
	return l.beside(output)
}
