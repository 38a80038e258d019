package strategies

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// settleTarget ensures that a resolved policy's target is below its trigger, since a ladder would otherwise never run.
// A default target becomes half the trigger; a given one is refused with a PolicyError.
func settleTarget(p *compactordv1.Policy, given bool) error {
	t := p.GetTrigger()
	trigger, due := session.TriggerTokens(p)
	switch {
	case t == nil || t.TargetTokens == nil || !due || t.GetTargetTokens() < trigger:
		return nil
	case given:
		return &PolicyError{
			Field: "policy.trigger.target_tokens",
			What: fmt.Sprintf("a target of %d tokens is not below the trigger of %d: a ladder would never run",
				t.GetTargetTokens(), trigger),
		}
	default:
		t.TargetTokens = proto.Uint32(max(1, trigger/2))
		return nil
	}
}
