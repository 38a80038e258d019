package strategies

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/wording"
)

var opencodePreset = preset{
	name: "opencode",
	does: "Cuts each tool result to 2,000 characters as it comes. Compacts when what the model can read is full; keeps the last " +
		"two turns as far as they fit into a quarter of that. After an overflow the last request is shown again.",
	reproduces: "opencode",
	from:       "an analysis of its five strategies, with code",
	deviations: []string{
		"A policy that leaves nothing of the window usable is refused; opencode's compaction would never end.",
		"Where the output limit is unknown, the buffer of 20,000 is left free, at most a quarter of the window.",
		"Results are cut as they come, as the analysis says is always in effect. Its code does it for the summarizer only.",
		"Two turns that both fit leave nothing to compact; opencode summarizes everything then.",
		"At least one message is kept, even one that does not fit.",
		"Compacting does not prune: opencode prunes in the background after each run; call Prune then.",
		"Prune protects the last two turns, as opencode does, so that it hides nothing from an agent that does one task in " +
			"one turn. Set the `prune_strategy` of `pi` there, which protects tool groups.",
		"The summary is a USER message; opencode's is an assistant message after a user message that marks the place.",
		"Sections of a summary that say nothing are left out; opencode keeps every heading.",
		"An input limit above the window counts as the window.",
		"`reserve_tokens`, where you set it, counts with and without an input limit; opencode's `reserved` counts only with one.",
	},
	refuses: func(l Limits) error {
		if usable, known := opencodeUsable(l); !known || usable > 0 {
			return nil
		}
		return &PolicyError{
			Field: "policy.max_output_tokens",
			What: fmt.Sprintf("of the %d tokens that a request can hold, preset opencode leaves %d for the answer, and so nothing "+
				"to fill; give a lower output limit, trigger.trigger_tokens or another preset", l.readable(), opencodeOutput(l)),
		}
	},
	change: func(p *compactordv1.Policy, l Limits) {
		usable, knownLimit := opencodeUsable(l)
		p.Trigger.Enabled = proto.Bool(!knownLimit || usable > 0)
		p.Trigger.TriggerTokens, p.Trigger.ReserveTokens = known(usable), nil
		recent := uint32(opencodeMostRecent)
		if knownLimit {
			recent = min(opencodeMostRecent, max(opencodeLeastRecent, percent(usable, 25)))
		}
		p.Strategy = cutBy(l, &compactordv1.SummarizeStrategy{
			RecentTurns:  proto.Uint32(2),
			RecentTokens: proto.Uint32(recent),
			Budget:       compactordv1.BudgetRule_BUDGET_RULE_AT_MOST.Enum(),
			SplitTurn:    compactordv1.SplitTurn_SPLIT_TURN_JOIN_HEAD.Enum(),
		})
		p.PruneStrategy = pruneBy(&compactordv1.PruneToolOutputsStrategy{
			KeepTurns:      proto.Uint32(2),
			KeepTokens:     proto.Uint32(40_000),
			MinimumTokens:  proto.Uint32(20_000),
			ProtectedTools: []string{"skill"},
			Placeholder:    proto.String("[Old tool result content cleared]" + wording.RecallMark),
		})
		p.OnAppend = listOf(&compactordv1.Strategy{Kind: &compactordv1.Strategy_TruncateToolOutputs{
			TruncateToolOutputs: &compactordv1.TruncateToolOutputsStrategy{
				MaxChars:    proto.Uint32(2_000),
				Placeholder: proto.String("[Tool output truncated: omitted {omitted} chars]" + wording.RecallMark),
			},
		}})
		p.Overflow = &compactordv1.OverflowPolicy{Replay: proto.Bool(true), AutoContinue: proto.Bool(true)}
	},
	sources: []source{
		{"trigger.trigger_tokens", "the usable context: the input limit less min(20,000, the output limit), or without an " +
			"input limit the window less the output limit"},
		{"summarize.recent_turns", "`DEFAULT_TAIL_TURNS`"},
		{"summarize.recent_tokens", "clamp(a quarter of the usable context, 2,000, 8,000), at most what the summary leaves of two thirds " +
			"of that"},
		{"summarize.max_summary_tokens", "ours, that of `pi`: opencode states none"},
		{"prune_tool_outputs.keep_turns", "`PRUNE` of the last two turns"},
		{"prune_tool_outputs.keep_tokens", "`PRUNE_PROTECT`"},
		{"prune_tool_outputs.minimum_tokens", "`PRUNE_MINIMUM`"},
		{"prune_tool_outputs.protected_tools", "`PRUNE_PROTECTED_TOOLS`"},
		{"prune_tool_outputs.placeholder", "its literal, and how to have the result back"},
		{"truncate_tool_outputs.max_chars", "`TOOL_OUTPUT_MAX_CHARS`"},
		{"truncate_tool_outputs.placeholder", "its literal, and how to have the result back"},
	},
}

const (
	opencodeBuffer      = 20_000
	opencodeLeastRecent = 2_000
	opencodeMostRecent  = 8_000
)

// opencodeOutput returns the tokens for the answer. If the output limit is unknown, that is a buffer.
func opencodeOutput(l Limits) uint32 {
	if l.MaxOutput == 0 {
		return min(opencodeBuffer, l.Window/4)
	}
	return l.MaxOutput
}

// opencodeUsable returns how much of the window opencode fills. It returns false if the window is unknown.
func opencodeUsable(l Limits) (uint32, bool) {
	output := opencodeOutput(l)
	switch {
	case l.Window == 0:
		return 0, false
	case l.MaxInput > 0:
		return l.readable() - min(l.readable(), opencodeBuffer, output), true
	default:
		return l.Window - min(l.Window, output), true
	}
}
