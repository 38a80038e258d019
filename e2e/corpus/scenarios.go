package corpus

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
	"github.com/compactord/compactord/strategies"
)

// Scenario is a policy, and the strategies that run on a growing session.
type Scenario struct {
	Name   string
	Policy *compactordv1.Policy
	// Strategies run in this order.
	Strategies []*compactordv1.Strategy
}

// Scenarios returns a scenario for each preset, and scenarios for the built-in strategies with numbers so small that
// they change every recording. Together they use every placement of the summary.
func Scenarios(t testing.TB) []Scenario {
	t.Helper()
	return append(strategyScenarios(), presetScenarios(t)...)
}

func strategyScenarios() []Scenario {
	return []Scenario{
		{
			Name:       "summarize",
			Policy:     placed(compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_PAIR),
			Strategies: []*compactordv1.Strategy{summarize(&compactordv1.SummarizeStrategy{RecentTokens: proto.Uint32(700)})},
		},
		{
			Name:   "summarize within turns",
			Policy: placed(compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_SYSTEM),
			Strategies: []*compactordv1.Strategy{summarize(&compactordv1.SummarizeStrategy{
				RecentMessages: proto.Uint32(1), SplitTurn: compactordv1.SplitTurn_SPLIT_TURN_JOIN_HEAD.Enum(),
			})},
		},
		{
			Name:   "hide_tool_results",
			Policy: placed(compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_USER),
			Strategies: []*compactordv1.Strategy{{Kind: &compactordv1.Strategy_HideToolResults{
				HideToolResults: &compactordv1.HideToolResultsStrategy{
					KeepGroups: proto.Uint32(1), Placeholder: proto.String("[hidden]"),
				},
			}}},
		},
		{
			Name:   "mask_observations",
			Policy: placed(compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_USER),
			Strategies: []*compactordv1.Strategy{{Kind: &compactordv1.Strategy_MaskObservations{
				MaskObservations: &compactordv1.MaskObservationsStrategy{
					KeepGroups: proto.Uint32(1), ActiveFileGroups: proto.Uint32(2), Placeholder: proto.String("[masked]"),
				},
			}}},
		},
		{
			Name:   "clear_tool_uses",
			Policy: placed(compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_USER),
			Strategies: []*compactordv1.Strategy{{Kind: &compactordv1.Strategy_ClearToolUses{
				ClearToolUses: &compactordv1.ClearToolUsesStrategy{
					KeepCalls: proto.Uint32(1), TriggerTokens: proto.Uint32(100), ClearArguments: proto.Bool(true),
				},
			}}},
		},
		{
			Name:   "prune_tool_outputs",
			Policy: placed(compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_USER),
			Strategies: []*compactordv1.Strategy{{Kind: &compactordv1.Strategy_PruneToolOutputs{
				PruneToolOutputs: &compactordv1.PruneToolOutputsStrategy{
					KeepGroups: proto.Uint32(1), KeepTokens: proto.Uint32(10), MinimumTokens: proto.Uint32(1),
					ClearArguments: proto.Bool(true),
				},
			}}},
		},
		{
			Name:   "truncate_tool_outputs, strip_media, drop_thinking",
			Policy: placed(compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_USER),
			Strategies: []*compactordv1.Strategy{
				{Kind: &compactordv1.Strategy_TruncateToolOutputs{
					TruncateToolOutputs: &compactordv1.TruncateToolOutputsStrategy{MaxChars: proto.Uint32(300)},
				}},
				{Kind: &compactordv1.Strategy_StripMedia{StripMedia: &compactordv1.StripMediaStrategy{}}},
				{Kind: &compactordv1.Strategy_DropThinking{DropThinking: &compactordv1.DropThinkingStrategy{KeepTurns: proto.Uint32(0)}}},
			},
		},
		{
			Name:   "offload, compress_observations",
			Policy: placed(compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_USER),
			Strategies: []*compactordv1.Strategy{
				{Kind: &compactordv1.Strategy_Offload{
					Offload: &compactordv1.OffloadStrategy{OverTokens: proto.Uint32(500), PreviewChars: proto.Uint32(100)},
				}},
				{Kind: &compactordv1.Strategy_CompressObservations{
					CompressObservations: &compactordv1.CompressObservationsStrategy{
						OverTokens: proto.Uint32(50), KeepGroups: proto.Uint32(1),
					},
				}},
			},
		},
		{
			Name:   "fold_subtasks, summarize",
			Policy: placed(compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_USER),
			Strategies: []*compactordv1.Strategy{
				{Kind: &compactordv1.Strategy_FoldSubtasks{FoldSubtasks: &compactordv1.FoldSubtasksStrategy{}}},
				summarize(&compactordv1.SummarizeStrategy{RecentTokens: proto.Uint32(1_000)}),
			},
		},
		{
			Name:   "dialogue_only by a ladder, summarize by first_effective",
			Policy: placed(compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_USER),
			Strategies: []*compactordv1.Strategy{
				{Kind: &compactordv1.Strategy_Ladder{Ladder: &compactordv1.LadderStrategy{
					Rungs: []*compactordv1.LadderStrategy_Rung{{Strategy: &compactordv1.Strategy{
						Kind: &compactordv1.Strategy_DialogueOnly{DialogueOnly: &compactordv1.DialogueOnlyStrategy{}},
					}}},
				}}},
				{Kind: &compactordv1.Strategy_FirstEffective{FirstEffective: &compactordv1.FirstEffectiveStrategy{
					Strategies: []*compactordv1.Strategy{
						summarize(&compactordv1.SummarizeStrategy{RecentTokens: proto.Uint32(2_000)}),
					},
				}}},
			},
		},
	}
}

func presetScenarios(t testing.TB) []Scenario {
	t.Helper()
	names := strategies.PresetNames()
	scenarios := make([]Scenario, 0, len(names))
	for _, name := range names {
		policy, err := strategies.Preset(name, strategies.Limits{Window: 32_000})
		require.NoError(t, err)
		scenarios = append(scenarios, Scenario{
			Name: name, Policy: policy, Strategies: []*compactordv1.Strategy{policy.GetPruneStrategy(), policy.GetStrategy()},
		})
	}
	return scenarios
}

func placed(where compactordv1.SummaryPlacement) *compactordv1.Policy {
	return &compactordv1.Policy{Summary: &compactordv1.SummaryPolicy{Placement: &where}}
}

func summarize(p *compactordv1.SummarizeStrategy) *compactordv1.Strategy {
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_Summarize{Summarize: p}}
}

// View is what the model would get.
type View struct {
	// Length is the number of messages in the log.
	Length   int
	Messages []*compactordv1.Message
}

// Run appends messages to a log. At the given number of lengths, spread over the log, it runs the strategies and calls
// look with the view. At the end a USER message gives up open calls.
func (l Scenario) Run(t testing.TB, messages []*compactordv1.Message, lengths int, look func(View)) {
	t.Helper()
	registry, err := strategies.NewRegistry(strategies.Builtin()...)
	require.NoError(t, err)
	w := sessiontest.NewWriter(l.Policy)
	next := 1
	for i, m := range messages {
		w.Append(m, nil)
		if i+1 == len(messages) && len(session.Awaited(w.Head)) > 0 {
			w.Append(&compactordv1.Message{
				Role: compactordv1.Role_ROLE_USER, Parts: []*compactordv1.Part{session.TextPart("Go on.")},
			}, nil)
		}
		// Wait for the end of an open tool group.
		if len(session.Awaited(w.Head)) > 0 || (i+1)*lengths < next*len(messages) {
			continue
		}
		next = (i+1)*lengths/len(messages) + 1
		for _, s := range l.Strategies {
			in := &strategies.Input{State: w.State(), Policy: l.Policy}
			plan, err := registry.Plan(t.Context(), in, s)
			require.NoError(t, err)
			require.NoError(t, strategies.Check(in, plan))
			carryOut(w, plan)
			if len(plan.GetEdits()) > 0 && plan.GetCut() == nil {
				// Edits are permanent: a second run makes none.
				rest, err := registry.Plan(t.Context(), &strategies.Input{State: w.State(), Policy: l.Policy}, s)
				require.NoError(t, err)
				require.Empty(t, rest.GetEdits())
			}
		}
		look(View{Length: i + 1, Messages: shown(w)})
	}
}

// carryOut writes the records of a plan, with a fixed summary.
func carryOut(w *sessiontest.Writer, plan *compactordv1.CompactionPlan) {
	if edits := plan.GetEdits(); len(edits) > 0 {
		w.Write(&compactordv1.Record{Kind: &compactordv1.Record_Prune{Prune: &compactordv1.PruneEntry{
			Edits: written(edits),
		}}})
	}
	if c := plan.GetCut(); c != nil {
		w.Write(&compactordv1.Record{Kind: &compactordv1.Record_Compaction{Compaction: &compactordv1.CompactionEntry{
			Id: fmt.Sprintf("cut-%d", w.Log.Newest()), FirstKeptIndex: c.GetFirstKeptIndex(),
			Summary: "## Goal\nWhat was asked for.\n\n## Progress\nWhat was done until here.",
		}}})
	}
}

func shown(w *sessiontest.Writer) []*compactordv1.Message {
	view := w.State().View(session.ViewOptions{}).Messages
	messages := make([]*compactordv1.Message, len(view))
	for i, vm := range view {
		messages[i] = vm.GetMessage()
	}
	return messages
}
