package strategies

import (
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// DefaultPreset is the preset of policies that name none.
const DefaultPreset = "default"

// Limits are those of the model, in tokens; 0 is unknown. A preset is a pure function of them.
type Limits struct {
	// Window is how much the model reads and writes in one request.
	Window uint32
	// MaxOutput is how much of it the model may write.
	MaxOutput uint32
	// MaxInput is how much it may read, where that is not the window.
	MaxInput uint32
}

// preset is what one differs in from the others.
type preset struct {
	name string
	// triggerRatio is a share of the window; 0 is none.
	triggerRatio float64
	// keep is the cut.
	keep func(l Limits) *compactordv1.SummarizeStrategy
	// prune is what Prune does.
	prune func(l Limits) *compactordv1.PruneToolOutputsStrategy
	// files are the tools that touch files; nil: the common ones, which are not written into every policy.
	files func() *compactordv1.FileTools
}

// presets is the one place where the numbers of presets stand, each with its source.
var presets = []preset{
	{
		name: DefaultPreset,
		// klaude-code's. The rest is for the answer, and for what tools bring before the next look at the report.
		triggerRatio: 0.75,
		keep: func(l Limits) *compactordv1.SummarizeStrategy {
			return &compactordv1.SummarizeStrategy{
				// Pi's 20,000, but at most klaude-code's 35 % of the window and not under its 4,096, unless that is half of it.
				RecentTokens: proto.Uint32(recentTokens(l.Window)),
			}
		},
		prune: func(l Limits) *compactordv1.PruneToolOutputsStrategy {
			return &compactordv1.PruneToolOutputsStrategy{
				// Groups and not turns: an agent that is given one task works it off within one turn, which turns would
				// protect whole. Five are KLIP-13's.
				ProtectGroups: proto.Uint32(5),
				// opencode's 40,000 and 20,000, which are a fifth and a tenth of a window of 200,000. In a smaller one they
				// would protect all there is.
				ProtectTokens: proto.Uint32(share(l.Window, 20, defaultProtectTokens)),
				MinimumTokens: proto.Uint32(share(l.Window, 10, defaultMinimumTokens)),
			}
		},
	},
	{
		name: "pi",
		// Pi has no ratio: it compacts above the window less the reserve.
		keep: func(Limits) *compactordv1.SummarizeStrategy {
			return &compactordv1.SummarizeStrategy{
				// Pi, compaction.keepRecentTokens.
				RecentTokens: proto.Uint32(20_000),
			}
		},
		prune: func(Limits) *compactordv1.PruneToolOutputsStrategy {
			// Pi prunes nothing. Who calls Prune all the same gets the contract's default, which is opencode's.
			return &compactordv1.PruneToolOutputsStrategy{
				ProtectTurns:  proto.Uint32(defaultProtectTurns),
				ProtectTokens: proto.Uint32(defaultProtectTokens),
				MinimumTokens: proto.Uint32(defaultMinimumTokens),
			}
		},
		files: piFileTools,
	},
}

// PresetNames returns the names of the presets, in the order in which they are documented.
func PresetNames() []string {
	names := make([]string, len(presets))
	for i, p := range presets {
		names[i] = p.name
	}
	return names
}

// Preset returns the policy of that name for a model with these limits, in plain numbers. If there is none it returns
// ErrUnknown with the names that there are.
func Preset(name string, limits Limits) (*compactordv1.Policy, error) {
	for _, p := range presets {
		if p.name == name {
			return p.policy(limits), nil
		}
	}
	return nil, fmt.Errorf("%w: preset %q; there are %s", ErrUnknown, name, strings.Join(PresetNames(), ", "))
}

// policy sets all that a policy needs, but for what depends on a window that is unknown: nothing is due then.
func (p preset) policy(l Limits) *compactordv1.Policy {
	// Pi, compaction.reserveTokens; at most a quarter of the window, so that a small model is left something to work in.
	reserve := reserveTokens(l.Window)
	keep := p.keep(l)
	keep.Budget = compactordv1.BudgetRule_BUDGET_RULE_AT_LEAST.Enum()
	keep.SplitTurn = compactordv1.SplitTurn_SPLIT_TURN_SUMMARY.Enum()
	// Pi: floor(0.8 x reserve), 13,107 of the whole reserve.
	keep.MaxSummaryTokens = proto.Uint32(summaryTokens(reserve))
	prune := p.prune(l)
	prune.ClearArguments = proto.Bool(false)
	return &compactordv1.Policy{
		Preset:          proto.String(p.name),
		ContextWindow:   known(l.Window),
		MaxOutputTokens: known(l.MaxOutput),
		MaxInputTokens:  known(l.MaxInput),
		Trigger: &compactordv1.Trigger{
			Enabled:       proto.Bool(true),
			TriggerRatio:  knownRatio(p.triggerRatio),
			ReserveTokens: proto.Uint32(reserve),
			TargetTokens:  targetTokens(l.Window),
		},
		Strategy:      &compactordv1.Strategy{Kind: &compactordv1.Strategy_Summarize{Summarize: keep}},
		PruneStrategy: &compactordv1.Strategy{Kind: &compactordv1.Strategy_PruneToolOutputs{PruneToolOutputs: prune}},
		Summary:       summaryPolicy(),
		Thinking:      compactordv1.ThinkingPolicy_THINKING_POLICY_KEEP_VALID.Enum(),
		FileTools:     p.fileTools(),
		Overflow: &compactordv1.OverflowPolicy{
			Replay:       proto.Bool(false),
			AutoContinue: proto.Bool(false),
		},
	}
}

// summaryPolicy needs no network and no model: what every daemon can do.
func summaryPolicy() *compactordv1.SummaryPolicy {
	return &compactordv1.SummaryPolicy{
		Summarizer:   proto.String("extractive"),
		Placement:    compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_USER.Enum(),
		Sections:     compactordv1.SectionSet_SECTION_SET_STANDARD.Enum(),
		Fallback:     compactordv1.SummaryFallback_SUMMARY_FALLBACK_EXTRACTIVE.Enum(),
		TryTimeout:   durationpb.New(2 * time.Minute),
		TotalTimeout: durationpb.New(10 * time.Minute),
		CachedPrefix: proto.Bool(false),
	}
}

// targetTokens is 0.4 of the window: well below every trigger, so that rewrites are few and large.
func targetTokens(window uint32) *uint32 {
	if window == 0 {
		return nil
	}
	return proto.Uint32(max(1, percent(window, 40)))
}

// share is a percentage of the window, at most a number; that number where the window is unknown.
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

func knownRatio(ratio float64) *float64 {
	if ratio == 0 {
		return nil
	}
	return &ratio
}
