package strategies

import (
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Resolve returns the policy in effect: the preset, changed by the given policies in order: the daemon's, the
// session's, the request's. The last preset that is named and the last limits that are given count. It returns
// ErrUnknown for an unknown preset, and a PolicyError if the policy contradicts itself.
func Resolve(given ...*compactordv1.Policy) (*compactordv1.Policy, error) {
	var all *compactordv1.Policy
	for _, p := range given {
		all = mergePolicy(all, p)
	}
	name := DefaultPreset
	if all != nil && all.Preset != nil {
		name = all.GetPreset()
	}
	base, err := Preset(name, limitsOf(all))
	if err != nil {
		return nil, err
	}
	if err := refusedLimits(name, all); err != nil {
		return nil, err
	}
	if replacesConversationTokens(base.GetTrigger(), all.GetTrigger()) {
		base.Trigger.TriggerConversationTokens = nil
	}
	resolved := mergePolicy(base, all)
	if saysWhenDue(all.GetTrigger()) {
		resolved.Trigger.Enabled = proto.Bool(true)
	}
	if err := checkPolicy(resolved); err != nil {
		return nil, err
	}
	if err := settleTarget(resolved, all.GetTrigger() != nil && all.GetTrigger().TargetTokens != nil); err != nil {
		return nil, err
	}
	return resolved, nil
}

// replacesConversationTokens says whether a policy sets a trigger, or a target, that the lower trigger_conversation_tokens
// of the preset would make useless.
func replacesConversationTokens(preset, given *compactordv1.Trigger) bool {
	return given != nil && preset.TriggerConversationTokens != nil && (given.TriggerTokens != nil ||
		given.TriggerRatio != nil || given.GetTargetTokens() >= preset.GetTriggerConversationTokens())
}

// saysWhenDue says whether a policy sets a trigger but not whether compaction is enabled. The trigger then counts even
// if the preset is disabled, which it is only where the limits leave nothing by its own trigger.
func saysWhenDue(t *compactordv1.Trigger) bool {
	return t != nil && t.Enabled == nil && (t.TriggerTokens != nil || t.TriggerRatio != nil || t.ReserveTokens != nil ||
		t.TriggerToolGroups != nil || t.MaxViewBytes != nil || t.TriggerConversationTokens != nil)
}

func limitsOf(p *compactordv1.Policy) Limits {
	return Limits{Window: p.GetContextWindow(), MaxOutput: p.GetMaxOutputTokens(), MaxInput: p.GetMaxInputTokens()}
}

// refusedLimits returns a PolicyError if the preset cannot work with these limits, unless the policy itself says when
// compaction is due, or that it never is.
func refusedLimits(name string, given *compactordv1.Policy) error {
	t := given.GetTrigger()
	if t != nil && (t.TriggerTokens != nil || t.TriggerConversationTokens != nil || t.Enabled != nil && !t.GetEnabled()) {
		return nil
	}
	for _, p := range presets {
		if p.name == name && p.refuses != nil {
			return p.refuses(limitsOf(given))
		}
	}
	return nil
}
