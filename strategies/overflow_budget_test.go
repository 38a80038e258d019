package strategies_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/strategies"
)

// A context that was refused as too long is cut although the policy has no trigger, or none that is met. Otherwise
// rules that keep everything would leave the agent without a way to continue.
func TestOverflowHasABudgetWithoutATrigger(t *testing.T) {
	t.Parallel()
	for name, policy := range map[string]*compactordv1.Policy{
		"default":      {Preset: proto.String("default")},
		"pi":           {Preset: proto.String("pi")},
		"klaude":       {Preset: proto.String("klaude"), ContextWindow: proto.Uint32(32_000)},
		"xbot_current": {Preset: proto.String("xbot_current")},
		"masking":      {Preset: proto.String("masking")},
		"hybrid":       {Preset: proto.String("hybrid")},
		"acon":         {Preset: proto.String("acon")},
		"far trigger":  {Trigger: &compactordv1.Trigger{TriggerTokens: proto.Uint32(100_000)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resolved, err := strategies.Resolve(policy)
			require.NoError(t, err)
			l := newLog()
			l.policy = resolved
			l.script("U10 T2 R3000 T2 R3000 T2 R3000 T2 R3000 A10 U10 A10")
			in := &strategies.Input{
				State: l.state(), Policy: resolved, Reason: compactordv1.CompactionReason_COMPACTION_REASON_OVERFLOW,
			}
			made, err := registry().Plan(t.Context(), in, resolved.GetStrategy())
			require.NoError(t, err)
			require.NoError(t, strategies.Check(in, made))
			require.NotNil(t, made.GetCut(), "%v", made)
			require.GreaterOrEqual(t, made.GetCut().GetFirstKeptIndex(), uint32(5))
		})
	}
}
