package strategies

import (
	"slices"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// basePolicy returns the policy that all presets begin with: everything but the strategy.
func basePolicy(name string, l Limits) *compactordv1.Policy {
	return &compactordv1.Policy{
		Preset:          proto.String(name),
		ContextWindow:   known(l.Window),
		MaxOutputTokens: known(l.MaxOutput),
		MaxInputTokens:  known(l.MaxInput),
		Trigger: &compactordv1.Trigger{
			Enabled:       proto.Bool(true),
			ReserveTokens: proto.Uint32(reserveTokens(l.readable())),
			TargetTokens:  targetTokens(l.readable()),
			FreeRatio:     proto.Float64(freeRatio),
		},
		PruneStrategy: basePrune(l),
		Summary:       summaryPolicy(),
		Thinking:      compactordv1.ThinkingPolicy_THINKING_POLICY_KEEP_VALID.Enum(),
		Overflow: &compactordv1.OverflowPolicy{
			Replay:       proto.Bool(false),
			AutoContinue: proto.Bool(false),
		},
		ContextBlocks: &compactordv1.ContextBlockPolicy{
			MaxTokens:     proto.Uint32(0),
			AllowOperator: proto.Bool(false),
		},
	}
}

// baseSources are the sources of figures that presets do not change.
var baseSources = []source{
	{"trigger.reserve_tokens", "Pi, `compaction.reserveTokens` 16,384; at most a quarter of the window, so that a small " +
		"model is left something to work in"},
	{"trigger.target_tokens", "ours: 0.4 of the window, well below the trigger, so that rewrites are few and large"},
	{"trigger.free_ratio", "ours: a third, so that an agent is not told to compact again soon; a cut takes more for it"},
	{"context_blocks.max_tokens", "ours: no limit, since each block can have its own"},
	{"max_summary_tokens", "Pi: floor(0.8 x reserve), 13,107 of the whole reserve"},
	{"prune_tool_outputs.keep_groups", "KLIP-13. Groups and not turns: an agent that is given one task works it off " +
		"within one turn, which turns would protect whole"},
	{"prune_tool_outputs.keep_tokens", "opencode's 40,000, which is a fifth of a window of 200,000; at most a fifth, " +
		"since in a smaller one it would protect all there is"},
	{"prune_tool_outputs.minimum_tokens", "opencode's 20,000, at most a tenth of the window"},
	{"summary.input.tool_result_chars", "Pi, opencode and xbot: 2,000"},
	{"summary.input.tool_argument_chars", "klaude-code: 2,000"},
}

// recentSource is the source of recentTokens.
const recentSource = "Pi's 20,000, but with the largest summary at most 0.4 of the window"

// basePrune returns the prune strategy of presets whose system does not prune.
func basePrune(l Limits) *compactordv1.Strategy {
	return pruneBy(&compactordv1.PruneToolOutputsStrategy{
		KeepGroups:    proto.Uint32(5),
		KeepTokens:    proto.Uint32(share(l.readable(), 20, defaultKeepTokens)),
		MinimumTokens: proto.Uint32(share(l.readable(), 10, defaultMinimumTokens)),
	})
}

// summaryPolicy returns settings that need no network and no model, so that every daemon can follow them.
func summaryPolicy() *compactordv1.SummaryPolicy {
	return &compactordv1.SummaryPolicy{
		Summarizer:   proto.String("extractive"),
		Placement:    compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_USER.Enum(),
		Sections:     &compactordv1.SectionList{Sections: session.StandardSections()},
		Fallback:     compactordv1.SummaryFallback_SUMMARY_FALLBACK_EXTRACTIVE.Enum(),
		CachedPrefix: proto.Bool(false),
		Redact:       proto.Bool(true),
		FileTags:     proto.Bool(false),
		Input: &compactordv1.SummaryInput{
			ToolResultChars:   proto.Uint32(2_000),
			ToolArgumentChars: proto.Uint32(2_000),
			Thinking:          proto.Bool(true),
		},
	}
}

// sectionsWithoutFiles returns the standard sections without the one for files, which the summary then lists in tags.
func sectionsWithoutFiles() *compactordv1.SectionList {
	return &compactordv1.SectionList{
		Sections: slices.DeleteFunc(session.StandardSections(), func(s *compactordv1.Section) bool {
			return s.GetRole() == compactordv1.SectionRole_SECTION_ROLE_FILES
		}),
	}
}

// freeRatio is a third, and a little more for the text around a summary.
const freeRatio = 0.34

// targetTokens returns 0.4 of the window.
func targetTokens(window uint32) *uint32 {
	if window == 0 {
		return nil
	}
	return proto.Uint32(max(1, percent(window, targetPercent)))
}

// share returns a percentage of the window, but at most `most`. If the window is unknown, it returns `most`.
func share(window, of, most uint32) uint32 {
	if window == 0 {
		return most
	}
	return min(most, percent(window, of))
}

func known(n uint32) *uint32 {
	if n == 0 {
		return nil
	}
	return &n
}
