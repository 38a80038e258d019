package strategies

import (
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

const klaudeName = "klaude"

var klaudePreset = preset{
	name: klaudeName,
	does: "Compacts at three quarters of what the window leaves beside the output limit, at half of a very large one. Keeps " +
		"up to 20,000 tokens, less in a manual compaction. If the budget ends within a tool group, it keeps the whole group.",
	reproduces: "klaude-code",
	from:       "klaude-code at c7f22216, and its compaction plan of 2026-01-08",
	deviations: []string{
		"The summary is a SYSTEM message, as the plan says; the program made it a USER message from its first day on.",
		"With an input limit, only that much of the window counts. The output limit is subtracted from the window and not " +
			"from the input limit.",
		"To set your own reserve, set `trigger_tokens`: the window less the output limit less the reserve, 151,616 for 16,384 " +
			"in a window of 200,000 with an output limit of 32,000. `reserve_tokens` is only another limit beside the preset's " +
			"`trigger_tokens`, and the lower one holds.",
		"klaude-code's summary has a sentence that tells the model to continue. Ours has none: the view has its own frame.",
		"A call given up does not move the cut back.",
		"An unknown output limit counts as at most half of the window: with its 32,000 klaude-code never compacts in a window " +
			"of that size.",
		"An image counts 1,200 tokens, as the plan says, and not 300.",
		"Three compactions in a row that do not reach the trigger open the breaker for a tenth of it. klaude-code tries again at " +
			"each step, and stops for the rest of the task only after one that failed.",
		"File lists come from the tools' names and arguments, not from the shape of the arguments alone.",
	},
	change: func(p *compactordv1.Policy, l Limits) {
		k := klaudeFigures(l)
		p.Trigger.TriggerTokens, p.Trigger.ReserveTokens = k.trigger, nil
		p.Trigger.Enabled = proto.Bool(l.Window == 0 || k.trigger != nil)
		p.Strategy = cutBy(l, &compactordv1.SummarizeStrategy{
			RecentTokens:       proto.Uint32(k.keep),
			ManualRecentTokens: proto.Uint32(k.manual),
			MaxSummaryTokens:   proto.Uint32(k.summary),
			CutDirection:       compactordv1.CutDirection_CUT_DIRECTION_BACKWARD.Enum(),
		})
		p.Summary.Placement = compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_SYSTEM.Enum()
		p.Summary.Sections = sectionsWithoutFiles()
		p.Summary.FileTags = proto.Bool(true)
		p.Summary.Input.ToolResultChars = proto.Uint32(4_000)
		p.FileTools = klaudeFileTools()
	},
	sources: []source{
		{"trigger.trigger_tokens", "effective - reserve, where effective is the window less the output limit (32,000 where " +
			"that is unknown, at most half of the window), at most the input limit, and the reserve a quarter of it, half of it in a window over 524,288; with nothing left of the " +
			"window it is disabled"},
		{"summarize.recent_tokens", "min(20,000, max(4,096, 35 % of the window)), at most the window less the reserve, and " +
			"what the summary leaves of two thirds of the trigger"},
		{"summarize.manual_recent_tokens", "min(keep, max(2,048, min(8,192, a quarter of keep)))"},
		{"summarize.max_summary_tokens", "max(1,024, 0.8 x min(reserve, 16,384)), at most two thirds of what is not to be free of the " +
			"trigger; for the text alone, as there"},
		{"summary.input.tool_result_chars", "its 4,000 of a tool's output"},
	},
}

// klaude are the figures that klaude-code derives from the model's limits.
type klaude struct {
	// trigger is nil if compaction is never due.
	trigger               *uint32
	keep, manual, summary uint32
}

// klaudeMaxOutput is its output limit for models whose limit is unknown. Above klaudeLargeWindow it compacts earlier.
const (
	klaudeMaxOutput   = 32_000
	klaudeLargeWindow = 524_288
)

func klaudeFigures(l Limits) klaude {
	reserve, keep := uint32(defaultReserve), uint32(defaultRecentTokens)
	var trigger *uint32
	if l.Window > 0 {
		output := l.MaxOutput
		if output == 0 {
			// The whole 32,000 would leave nothing of a window of that size, and compaction would never be due.
			output = min(klaudeMaxOutput, l.Window/2)
		}
		effective := l.beside(output)
		of := uint32(25)
		if l.readable() > klaudeLargeWindow {
			of = 50
		}
		if effective > 0 {
			reserve = percent(effective, of)
			trigger = proto.Uint32(effective - reserve)
		} else {
			reserve = percent(l.readable(), of)
		}
		keep = min(defaultRecentTokens, max(4_096, percent(l.readable(), 35)), l.readable()-reserve)
	}
	return klaude{
		trigger: trigger,
		keep:    keep,
		manual:  min(keep, max(2_048, min(8_192, keep/4))),
		summary: max(1_024, percent(min(reserve, defaultReserve), 80)),
	}
}

// klaudeFileTools are klaude-code's own tools. Their path argument is `file_path` or `path`; patches name their files
// themselves.
func klaudeFileTools() *compactordv1.FileTools {
	return fileTools([]string{"file_path", "path"}, []string{"Read"}, []string{"Edit", "MultiEdit", "Write"})
}
