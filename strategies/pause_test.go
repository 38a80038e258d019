package strategies_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/strategies"
)

// A report says how long the policy's strategy pauses between rewrites, and does not ask for a compaction during the
// pause.
func TestReportTellsThePause(t *testing.T) {
	t.Parallel()
	hide := &compactordv1.Strategy{Kind: &compactordv1.Strategy_HideToolResults{
		HideToolResults: &compactordv1.HideToolResultsStrategy{MinimumTokens: proto.Uint32(500)},
	}}
	cut := &compactordv1.Strategy{Kind: &compactordv1.Strategy_Summarize{Summarize: &compactordv1.SummarizeStrategy{}}}
	both := &compactordv1.Strategy{Kind: &compactordv1.Strategy_Ladder{Ladder: &compactordv1.LadderStrategy{
		Rungs: []*compactordv1.LadderStrategy_Rung{{Strategy: hide}, {Strategy: cut}},
	}}}
	prunes := &compactordv1.Strategy{Kind: &compactordv1.Strategy_PruneToolOutputs{}}
	for _, c := range []struct {
		name string
		s    *compactordv1.Strategy
		// trigger, window and groups are those of the policy. The context has 1,000 tokens, and `since` of them are
		// new.
		trigger, window, groups uint32
		since                   uint32
		pause                   uint32
	}{
		{"a ladder waits for the least that is demanded", both, 4000, 10_000, 0, 100, 400},
		{"for a fifth of the trigger", both, 1000, 10_000, 0, 150, 50},
		{"until half of what is left of the window", both, 990, 1050, 0, 20, 20},
		{"it is over", both, 990, 10_000, 0, 198, 0},
		{"the context is beyond that", both, 900, 1100, 0, 20, 0},
		{"without a window", both, 990, 0, 0, 100, 98},
		{"beyond a fifth of the trigger without a window", both, 800, 0, 0, 100, 0},
		{"due by groups", both, 990, 10_000, 1, 100, 0},
		{"without a trigger in tokens", both, 0, 0, 2, 100, 0},
		{"one that hides by itself waits for all", hide, 900, 1000, 0, 100, 400},
		{"the default of a prune", prunes, 900, 1000, 0, 100, 19_900},
		{"what only cuts does not wait", cut, 990, 10_000, 0, 100, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := session.NewHead(0)
			h.ViewTokens, h.ViewToolGroups = 1000, 1
			h.AppendedTokens, h.RewrittenAtTokens = 5000, proto.Uint32(5000-c.since)
			p := &compactordv1.Policy{Strategy: c.s, Trigger: &compactordv1.Trigger{}}
			if c.trigger > 0 {
				p.Trigger.TriggerTokens = &c.trigger
			}
			if c.window > 0 {
				p.ContextWindow = &c.window
			}
			if c.groups > 0 {
				p.Trigger.TriggerToolGroups = &c.groups
			}
			r := strategies.Report(h, p)
			require.Equal(t, c.pause, r.GetPauseEndsAfterTokens())
			paused := slices.Contains(r.GetBlockedBy(), compactordv1.BlockedBy_BLOCKED_BY_PAUSE)
			require.Equal(t, c.pause > 0 && session.Due(p, r), paused)
			h.RewrittenAtTokens = nil
			require.Zero(t, strategies.Report(h, p).GetPauseEndsAfterTokens(), "nothing was rewritten yet")
		})
	}
}

// A strategy that nests others rewrites the view no sooner than they would alone, unless the window is nearly full.
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
