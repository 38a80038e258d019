package strategies_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/strategies"
)

// What nests strategies rewrites no sooner than one of them would, unless what is left of the window runs out.
func TestNestingStrategiesPauseBetweenRewrites(t *testing.T) {
	t.Parallel()
	nested := []*compactordv1.Strategy{
		summarizing(keepTokens(10)), pruneTools(&compactordv1.PruneToolOutputsStrategy{MinimumTokens: proto.Uint32(500)}),
	}
	for name, of := range map[string]*compactordv1.Strategy{
		"ladder":          ladder(rung(nested[0]), rung(nested[1])),
		"first_effective": firstEffective(nested...),
		"nested deeper":   ladder(rung(firstEffective(nested...))),
	} {
		for _, c := range []struct {
			name     string
			window   uint32
			trigger  uint32
			appended string
			reason   compactordv1.CompactionReason
			does     bool
		}{
			{"too soon", 10_000, 5_000, "R499", due, false},
			{"as much is new as is demanded", 10_000, 5_000, "R500", due, true},
			{"half-way to the window", 1_000, 400, "R80", due, true},
			{"a fifth of the trigger", 10_000, 2_000, "R400", due, true},
			{"less than that of the trigger", 10_000, 2_000, "R399", due, false},
			{"asked for by hand", 10_000, 5_000, "R1", manual, true},
			{"after an overflow", 10_000, 5_000, "R1", compactordv1.CompactionReason_COMPACTION_REASON_OVERFLOW, true},
		} {
			t.Run(name+", "+c.name, func(t *testing.T) {
				t.Parallel()
				l := newLog().script("U T2 R600 U T2 " + c.appended)
				l.policy = &compactordv1.Policy{
					ContextWindow: &c.window, Trigger: &compactordv1.Trigger{TriggerTokens: &c.trigger},
				}
				s := l.state()
				// The last rewrite was before the newest result.
				s.Head.RewrittenAtTokens = proto.Uint32(s.Head.GetAppendedTokens() - s.Kept[len(s.Kept)-1].GetTokens())
				plan, err := registry().Plan(t.Context(), &strategies.Input{State: s, Policy: l.policy, Reason: c.reason}, of)
				require.NoError(t, err)
				require.Equal(t, c.does, plan.GetCut() != nil, "%v", plan)
				if !c.does {
					require.Equal(t, compactordv1.SkipReason_SKIP_REASON_BELOW_MINIMUM, plan.GetSkipReason())
				}
			})
		}
	}
}
