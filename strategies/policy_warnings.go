package strategies

import (
	"fmt"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// leastTrigger is the lowest trigger in tokens beside which a summary with its frame has space.
const leastTrigger = 4 * minSummaryTokens

// Warnings says why a resolved policy can never compact, although its window is known. disabled says that whoever gave
// the policy disabled the trigger, so that this is no surprise.
func Warnings(p *compactordv1.Policy, disabled bool) []*compactordv1.PolicyWarning {
	limit := session.ContextLimit(p)
	if limit == 0 || disabled {
		return nil
	}
	if !p.GetTrigger().GetEnabled() {
		return []*compactordv1.PolicyWarning{{
			Field: "policy.max_output_tokens",
			Text: fmt.Sprintf("the preset %s never compacts, since an output limit of %d leaves nothing of a window of %d: "+
				"lower it, or set policy.trigger.trigger_tokens", p.GetPreset(), p.GetMaxOutputTokens(), p.GetContextWindow()),
		}}
	}
	trigger, byTokens := session.TriggerTokens(p)
	if !byTokens || p.GetTrigger().TriggerToolGroups != nil || p.GetTrigger().MaxViewBytes != nil {
		return nil
	}
	var what string
	switch {
	case trigger > limit:
		what = fmt.Sprintf("compaction is due at %d tokens, but a request can hold only %d: lower the trigger", trigger, limit)
	case trigger < leastTrigger:
		what = fmt.Sprintf("compaction is due at %d tokens, which leaves no space for a summary: "+
			"raise the window or the trigger, or lower the output limit", trigger)
	default:
		return nil
	}
	return []*compactordv1.PolicyWarning{{Field: "policy.trigger", Text: what}}
}
