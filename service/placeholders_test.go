package service_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/strategies"
)

// What opencode, klip13 and xbot_current show in place of a result named no index: nobody could have it back by that.
func TestPlaceholdersOfEveryPresetLeadToTheResult(t *testing.T) {
	t.Parallel()
	for _, preset := range strategies.PresetNames() {
		t.Run(preset, func(t *testing.T) {
			d := start(t)
			policy := &compactordv1.Policy{Preset: &preset, ContextWindow: proto.Uint32(100_000)}
			arrives := d.create("arriving", policy).GetResolvedPolicy().GetOnAppend() != nil
			d.append("arriving", working(3, 16_000)...)
			require.Equal(t, arrives, followsPlaceholders(d, "arriving") > 0, "on arrival")

			for i, leaf := range hidingOf(d.session("arriving").GetSession().GetResolvedPolicy()) {
				id := fmt.Sprintf("pruned-%d", i)
				d.create(id, &compactordv1.Policy{
					Preset: &preset, ContextWindow: proto.Uint32(100_000), OnAppend: listOf(), OnUserMessage: listOf(), PruneStrategy: leaf,
				})
				d.append(id, working(30, 16_000)...)
				_, err := d.compactions.Prune(t.Context(), &compactordv1.PruneRequest{
					Target: &compactordv1.PruneRequest_SessionId{SessionId: id},
				})
				require.NoError(t, err)
				require.Positive(t, followsPlaceholders(d, id), "%v", leaf)
			}
		})
	}
}

// hidingOf are the strategies of a policy, nested ones too, that leave a placeholder for what they take out.
func hidingOf(p *compactordv1.Policy) []*compactordv1.Strategy {
	var leaves []*compactordv1.Strategy
	for _, s := range append([]*compactordv1.Strategy{p.GetStrategy(), p.GetPruneStrategy()}, p.GetOnAppend().GetStrategies()...) {
		for n := range strategies.Nested(s) {
			switch n.Strategy.GetKind().(type) {
			case *compactordv1.Strategy_HideToolResults, *compactordv1.Strategy_MaskObservations,
				*compactordv1.Strategy_PruneToolOutputs, *compactordv1.Strategy_TruncateToolOutputs, *compactordv1.Strategy_Offload:
				leaves = append(leaves, n.Strategy)
			}
		}
	}
	return leaves
}

// followsPlaceholders recalls by each placeholder of a session's view what it stands in for, and says how many there were.
func followsPlaceholders(d *daemon, id string) int {
	found, logged := 0, d.messages(id)
	for _, m := range d.view(id) {
		if len(m.GetEdits()) == 0 || m.GetMessage().GetRole() != compactordv1.Role_ROLE_TOOL {
			continue
		}
		found++
		answer := d.recall(&compactordv1.RecallContentRequest{
			SessionId: id, What: &compactordv1.RecallContentRequest_Reference{Reference: resultTextOf(m.GetMessage())},
		})
		require.Equal(d.t, resultTextOf(logged[m.GetIndex()].GetMessage()), answer.GetText())
	}
	return found
}
