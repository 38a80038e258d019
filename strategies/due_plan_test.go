package strategies_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/strategies"
)

// dueAndPlanned returns whether a compaction would make the view of a log smaller, and its plan.
func dueAndPlanned(t *testing.T, l *testLog) (bool, *compactordv1.CompactionPlan) {
	t.Helper()
	planned, err := registry().PlanDue(t.Context(), l.state(), l.policy)
	require.NoError(t, err)
	in := &strategies.Input{State: l.state(), Policy: l.policy, Reason: due}
	made, err := registry().Plan(t.Context(), in, l.policy.GetStrategy())
	require.NoError(t, err)
	return planned.GetShrinksView(), made
}

// A report once said that compaction was due where the largest summary left the view as large as it was: its size was
// rounded down to whole words.
func TestPlanDueCountsTheLargestSummary(t *testing.T) {
	t.Parallel()
	policy, err := strategies.Resolve(&compactordv1.Policy{
		Preset: proto.String("opencode"), ContextWindow: proto.Uint32(100), Trigger: &compactordv1.Trigger{},
	})
	require.NoError(t, err)
	counts := make(map[bool]int)
	for size := 40; size < 200; size++ {
		l := newLog().script(fmt.Sprintf("U%d A4 U10", size))
		l.policy = policy
		shrinks, made := dueAndPlanned(t, l)
		if made.GetCut() == nil {
			continue
		}
		counts[shrinks]++
		before := l.head().GetViewTokens()
		l.commit(made, textOf(largestText(l.state(), policy, int(made.GetCut().GetMaxSummaryTokens()))))
		if shrinks {
			require.Less(t, l.head().GetViewTokens(), before, "%d tokens", size)
		}
	}
	require.Greater(t, counts[true], 10)
	require.Greater(t, counts[false], 10)
}

// A report once said that compaction was due by bytes where the summary could have more bytes than what it replaced:
// attachments count in the summary's limit, and did not count in the plan's.
func TestPlanDueCountsSummariesOfAttachments(t *testing.T) {
	t.Parallel()
	policy, err := strategies.Resolve(&compactordv1.Policy{
		Preset: proto.String("default"), ContextWindow: proto.Uint32(100),
		Trigger: &compactordv1.Trigger{MaxViewBytes: proto.Uint32(100)},
	})
	require.NoError(t, err)
	counts := make(map[bool]int)
	for bytes := 0; bytes < 600; bytes += 10 {
		l := newLog().script("U4")
		l.policy = policy
		signed := l.message("A", 4, "")
		signed.Attachments = []*compactordv1.Attachment{{
			Dialect: compactordv1.Dialect_DIALECT_ANTHROPIC, Key: "signature", Json: fmt.Sprintf("%q", strings.Repeat("s", bytes)),
		}}
		l.add(signed)
		l.script("U20")
		shrinks, made := dueAndPlanned(t, l)
		cut := made.GetCut()
		if cut == nil {
			continue
		}
		counts[shrinks]++
		limit := strategies.CoveredTokens(l.state(), l.state().Position(cut.GetFirstKeptIndex()), true) - 1
		before := l.head().GetViewBytes()
		l.commit(made, textOf(min(largestText(l.state(), policy, int(cut.GetMaxSummaryTokens())), int(limit))))
		if shrinks {
			require.Less(t, l.head().GetViewBytes(), before, "%d bytes", bytes)
		}
	}
	require.Greater(t, counts[true], 5)
	require.Greater(t, counts[false], 5)
}

// Each append to a session whose compaction was due once cost a plan of the whole view.
func TestAPlanHoldsWhileLittleIsAppended(t *testing.T) {
	t.Parallel()
	policy, err := strategies.Resolve(&compactordv1.Policy{
		Preset: proto.String("pi"), ContextWindow: proto.Uint32(20_000),
		Trigger: &compactordv1.Trigger{TriggerTokens: proto.Uint32(8000)}, OverheadTokens: proto.Uint32(0),
	})
	require.NoError(t, err)
	planned := func() (*testLog, *storagev1.Session) {
		l := newLog().script("U100 A4000 U10 A4000 U10 A4000")
		l.policy = policy
		plan, err := registry().PlanDue(t.Context(), l.state(), policy)
		require.NoError(t, err)
		require.True(t, plan.GetShrinksView())
		require.Greater(t, plan.GetFreedTokens(), uint32(2000))
		return l, &storagev1.Session{ResolvedPolicy: policy, DuePlan: plan}
	}
	for name, c := range map[string]struct {
		change func(l *testLog, row *storagev1.Session)
		holds  bool
	}{
		"nothing":            {func(*testLog, *storagev1.Session) {}, true},
		"a message":          {func(l *testLog, _ *storagev1.Session) { l.script("U100") }, true},
		"several messages":   {func(l *testLog, _ *storagev1.Session) { l.script("U10 A100 U10") }, true},
		"much":               {func(l *testLog, _ *storagev1.Session) { l.script("U6000") }, false},
		"a record":           {func(l *testLog, _ *storagev1.Session) { l.pin(1) }, false},
		"an earlier point":   {func(l *testLog, _ *storagev1.Session) { l.heads = l.heads[:len(l.heads)-1] }, false},
		"it frees little":    {func(l *testLog, row *storagev1.Session) { row.DuePlan.FreedTokens = 300; l.script("U100") }, false},
		"it does not shrink": {func(l *testLog, row *storagev1.Session) { row.DuePlan.FreedTokens = 0; l.script("U100") }, false},
		"only bytes are due": {func(l *testLog, row *storagev1.Session) {
			l.script("U100")
			row.ResolvedPolicy = proto.CloneOf(policy)
			row.ResolvedPolicy.Trigger = &compactordv1.Trigger{MaxViewBytes: proto.Uint32(10)}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, row := planned()
			c.change(l, row)
			require.Equal(t, c.holds, strategies.PlannedAt(row, l.head()))
		})
	}
}
