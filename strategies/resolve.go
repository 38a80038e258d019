package strategies

import (
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Resolve returns the policy in force: the preset, and over it what is given, the daemon's before the session's before
// the request's. The last preset that is named holds, with the limits that are given last. It returns ErrUnknown for a
// preset that there is not, and a PolicyError where the policy contradicts itself.
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

// saysWhenDue says whether a policy itself gives a trigger, and not whether compaction is enabled. Then it holds, also where
// the limits leave nothing by the preset's own, which is disabled for that alone.
func saysWhenDue(t *compactordv1.Trigger) bool {
	return t != nil && t.Enabled == nil && (t.TriggerTokens != nil || t.TriggerRatio != nil || t.ReserveTokens != nil ||
		t.TriggerToolGroups != nil || t.MaxViewBytes != nil)
}

func limitsOf(p *compactordv1.Policy) Limits {
	return Limits{Window: p.GetContextWindow(), MaxOutput: p.GetMaxOutputTokens(), MaxInput: p.GetMaxInputTokens()}
}

// refusedLimits returns a PolicyError where the limits leave the preset nothing to work in, unless the policy
// says itself when compaction is due, or that it never is.
func refusedLimits(name string, given *compactordv1.Policy) error {
	t := given.GetTrigger()
	if t != nil && (t.TriggerTokens != nil || t.Enabled != nil && !t.GetEnabled()) {
		return nil
	}
	for _, p := range presets {
		if p.name == name && p.refuses != nil {
			return p.refuses(limitsOf(given))
		}
	}
	return nil
}
