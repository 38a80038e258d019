package strategies_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/strategies"
)

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
		shrinks, err := registry().ShrinksView(t.Context(), l.state(), policy)
		require.NoError(t, err)
		made, err := registry().Plan(
			t.Context(), &strategies.Input{State: l.state(), Policy: policy, Reason: due}, policy.GetStrategy(),
		)
		require.NoError(t, err)
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
