package strategies

import (
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// conversationTokens is the size of the conversation at which compaction is due under `default`: there a run costs least
// with a prompt cache, as `compactord help cost` derives.
const conversationTokens = 45_000

// arrivalTokens is the most that views show of a result under `default`, in a large window. leastArrivalTokens is that in
// a window that is too small for real work.
const (
	arrivalTokens      = 7_500
	leastArrivalTokens = 500
)

// defaultPreset is ours.
var defaultPreset = preset{
	name: DefaultPreset,
	does: "Compacts where that costs least with a prompt cache: when the conversation has 45,000 tokens, or at 75 % of a smaller window. " +
		"It drops the thinking of earlier turns and replaces old media. If that does not bring the context to 60 % of the " +
		"trigger, it summarizes all but the newest 11,250 tokens, or a quarter of a lower trigger. Of a result of over 7,500 " +
		"tokens, or a sixteenth of a smaller window, views show the beginning and the end, from its arrival on.",
	change: func(p *compactordv1.Policy, l Limits) {
		trigger := defaultTrigger(l.readable())
		arrival := shownOnArrival(l.readable())
		compactWhereCheapest(p, l)
		p.Strategy = ladderOf(
			always(&compactordv1.Strategy{Kind: &compactordv1.Strategy_DropThinking{
				DropThinking: &compactordv1.DropThinkingStrategy{KeepTurns: proto.Uint32(1)},
			}}),
			always(&compactordv1.Strategy{Kind: &compactordv1.Strategy_StripMedia{
				StripMedia: &compactordv1.StripMediaStrategy{KeepNewest: proto.Uint32(2)},
			}}),
			always(cutWhereCheapest(l)),
		)
		p.PruneStrategy = pruneBy(&compactordv1.PruneToolOutputsStrategy{
			KeepGroups:    proto.Uint32(5),
			KeepTokens:    proto.Uint32(trigger / 4),
			MinimumTokens: proto.Uint32(trigger / 8),
		})
		p.OnAppend = listOf(&compactordv1.Strategy{Kind: &compactordv1.Strategy_TruncateToolOutputs{
			TruncateToolOutputs: &compactordv1.TruncateToolOutputsStrategy{
				MaxChars:  proto.Uint32(3 * arrival),
				TailChars: proto.Uint32(arrival),
			},
		}})
	},
	sources: []source{
		{"trigger.trigger_ratio", "klaude-code. The rest is for the answer, and for tool results that come before the next " +
			"report is read"},
		{"trigger.trigger_conversation_tokens", "ours, from the [cost model](cost.md): B + sqrt(25 B g), where B is the tokens " +
			"after a compaction and g the new tokens of a request"},
		{"trigger.target_tokens", "ours: 0.6 of the trigger, a little more than the kept part and the largest summary"},
		{"summarize.recent_tokens", "ours: a quarter of the trigger. [Of the same tokens](cost.md#what-is-kept) a summary keeps more " +
			"of what is needed later than messages do"},
		{"summarize.max_summary_tokens", "ours: a third of the trigger"},
		{"drop_thinking.keep_turns", "ours: the current turn needs its earlier thinking"},
		{"strip_media.keep_newest", "ours: the last image, and one to compare it with"},
		{"prune_tool_outputs.keep_tokens", "ours: a quarter of the trigger, as much as a summary keeps"},
		{"prune_tool_outputs.minimum_tokens", "ours: an eighth of the trigger, since a prune writes the prompt cache anew"},
		{"truncate_tool_outputs.max_chars", "ours: with the end 7,500 tokens of four characters, at most a sixteenth of the window, " +
			"so that the results of parallel calls fit beside the rest"},
		{"truncate_tool_outputs.tail_chars", "ours: a quarter of what is shown, since errors and totals are at the end"},
	},
}

// compactWhereCheapest sets the trigger and the target with which a run costs least.
func compactWhereCheapest(p *compactordv1.Policy, l Limits) {
	p.Trigger.TriggerRatio = proto.Float64(0.75)
	if l.Window > 0 {
		p.Trigger.TriggerConversationTokens = proto.Uint32(conversationTokens)
		p.Trigger.TargetTokens = proto.Uint32(max(1, percent(defaultTrigger(l.readable()), 60)))
	}
}

// cutWhereCheapest returns the cut that belongs to that trigger.
func cutWhereCheapest(l Limits) *compactordv1.Strategy {
	trigger := defaultTrigger(l.readable())
	return cutBy(l, &compactordv1.SummarizeStrategy{
		RecentTokens:     proto.Uint32(trigger / 4),
		MaxSummaryTokens: proto.Uint32(max(minSummaryTokens, trigger/3)),
	})
}

// defaultTrigger returns how large a context without an overhead is when compaction is due under `default`.
func defaultTrigger(window uint32) uint32 { return share(window, 75, conversationTokens) }

// shownOnArrival returns the most tokens that views show of a result under `default`, of four characters each.
func shownOnArrival(window uint32) uint32 {
	if window == 0 {
		return arrivalTokens
	}
	return min(arrivalTokens, max(leastArrivalTokens, window/16))
}
