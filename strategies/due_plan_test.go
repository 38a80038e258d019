package strategies_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/strategies"
)

// dueAndPlanned returns whether a compaction would make the view of a log smaller, and its plan.
func dueAndPlanned(t *testing.T, l *testLog) (bool, *compactordv1.CompactionPlan) {
	t.Helper()
	shrinks, err := registry().ShrinksView(t.Context(), l.state(), l.policy)
	require.NoError(t, err)
	in := &strategies.Input{State: l.state(), Policy: l.policy, Reason: due}
	made, err := registry().Plan(t.Context(), in, l.policy.GetStrategy())
	require.NoError(t, err)
	return shrinks, made
}

// A report once said that compaction was due where the largest summary left the view as large as it was: its size was
// rounded down to whole words.
func TestShrinksViewCountsTheLargestSummary(t *testing.T) {
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
func TestShrinksViewCountsSummariesOfAttachments(t *testing.T) {
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
