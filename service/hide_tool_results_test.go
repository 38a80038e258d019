package service_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func hidingOldest(p *compactordv1.HideToolResultsStrategy) *compactordv1.Strategy {
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_HideToolResults{HideToolResults: p}}
}

// A hidden late result is quoted by its placeholder, which is enough to recall it.
func TestHiddenLateResultIsRecalled(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	late := strings.Repeat("what came too late\n", 100)
	d.append("s",
		user("do"), assistant("", call("a", "read", "{}")), user("never mind"), assistant("As you say."), toolResult("a", late),
		assistant("", call("b", "read", "{}")), toolResult("b", "found"),
	)
	pruned := d.prune(&compactordv1.Policy{PruneStrategy: hidingOldest(&compactordv1.HideToolResultsStrategy{
		KeepGroups: proto.Uint32(1),
	})})
	require.Len(t, pruned.GetEdits(), 1)
	require.Equal(t, uint32(1), pruned.GetProvenance().GetStrategy().GetHideToolResults().GetKeepGroups())
	require.NotNil(t, pruned.GetProvenance().GetStrategy().GetHideToolResults().MinimumTokens, "defaults are told, too")

	var quote *compactordv1.ViewMessage
	for _, vm := range d.view("s") {
		if vm.GetLogRepair().GetKind() == compactordv1.LogRepairKind_LOG_REPAIR_KIND_STRAY_RESULT {
			quote = vm
		}
	}
	require.Equal(t, []compactordv1.EditKind{compactordv1.EditKind_EDIT_KIND_HIDE_RESULT}, quote.GetEdits())
	require.Equal(t, compactordv1.Role_ROLE_USER, quote.GetMessage().GetRole())
	placeholder := quote.GetMessage().GetParts()[1].GetText().GetText()
	require.Equal(t, pruned.GetEdits()[0].GetReplacement(), placeholder)
	require.Equal(t, late, d.recall(recallBy(placeholder)).GetText())
}

// Automatic prunes of a session keep a distance, and their skips say so. Manual ones need not.
func TestAutomaticPrunesAreApart(t *testing.T) {
	t.Parallel()
	d := start(t)
	policy := &compactordv1.Policy{
		ContextWindow: proto.Uint32(10_000), Trigger: &compactordv1.Trigger{TriggerTokens: proto.Uint32(1000)},
		PruneStrategy: hidingOldest(&compactordv1.HideToolResultsStrategy{
			KeepGroups: proto.Uint32(1), MinimumTokens: proto.Uint32(500),
		}),
	}
	d.create("s", policy)
	prune := func(reason compactordv1.CompactionReason) *compactordv1.PruneResponse {
		answer, err := d.compactions.Prune(t.Context(), &compactordv1.PruneRequest{
			Target: &compactordv1.PruneRequest_SessionId{SessionId: "s"}, Reason: reason,
		})
		require.NoError(t, err)
		return answer
	}
	const automatic = compactordv1.CompactionReason_COMPACTION_REASON_THRESHOLD
	d.append("s", working(2, 4000)...)
	require.Len(t, prune(automatic).GetPrune().GetEdits(), 1)
	d.append("s", user("more"), assistant("", call("x", "read", "{}")), toolResult("x", strings.Repeat("x", 1600)))
	skipped := prune(automatic)
	require.Equal(t, compactordv1.SkipReason_SKIP_REASON_BELOW_MINIMUM, skipped.GetSkipReason())
	require.Contains(t, skipped.GetMessage(), "appended since the last rewrite")

	fork, err := d.sessions.ForkSession(t.Context(), &compactordv1.ForkSessionRequest{
		SessionId: "s", NewSessionId: "fork",
	})
	require.NoError(t, err)
	answer, err := d.compactions.Prune(t.Context(), &compactordv1.PruneRequest{
		Target: &compactordv1.PruneRequest_SessionId{SessionId: fork.GetSession().GetSessionId()}, Reason: automatic,
	})
	require.NoError(t, err)
	require.Equal(t, compactordv1.SkipReason_SKIP_REASON_BELOW_MINIMUM, answer.GetSkipReason(), "a fork goes on from there")

	d.append("s", assistant(strings.Repeat("x", 400)))
	require.Len(t, prune(automatic).GetPrune().GetEdits(), 1)
}
