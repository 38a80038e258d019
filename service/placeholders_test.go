package service_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/strategies"
)

// The placeholders of opencode, klip13 and xbot_current had no index, so that nobody could recall the result.
func TestPlaceholdersOfEveryPresetLeadToTheResult(t *testing.T) {
	t.Parallel()
	for _, preset := range strategies.PresetNames() {
		t.Run(preset, func(t *testing.T) {
			d := start(t)
			policy := &compactordv1.Policy{Preset: &preset, ContextWindow: proto.Uint32(100_000)}
			arrives := d.create("arriving", policy).GetResolvedPolicy().GetOnAppend() != nil
			d.append("arriving", working(3, 40_000)...)
			require.Equal(t, arrives, followsPlaceholders(d, "arriving") > 0, "on arrival")

			for i, leaf := range hidingOf(d.session("arriving").GetSession().GetResolvedPolicy()) {
				id := fmt.Sprintf("pruned-%d", i)
				d.create(id, &compactordv1.Policy{
					Preset: &preset, ContextWindow: proto.Uint32(100_000), OnAppend: listOf(), OnUserMessage: listOf(), PruneStrategy: leaf,
				})
				d.append(id, working(30, 40_000)...)
				_, err := d.compactions.Prune(t.Context(), &compactordv1.PruneRequest{
					Target: &compactordv1.PruneRequest_SessionId{SessionId: id},
				})
				require.NoError(t, err)
				require.Positive(t, followsPlaceholders(d, id), "%v", leaf)
			}
		})
	}
}

// hidingOf returns the strategies of a policy, nested ones too, that leave a placeholder.
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

// followsPlaceholders recalls the content of each placeholder in a session's view, and returns their number.
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

// Offloaded content could not be recalled by its placeholder where the preview quoted references, or was long.
func TestRecallByAPlaceholderWhosePreviewQuotesReferences(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"citations":    "- done [#0], see #1.0\n",
		"placeholders": "[The result of read (648 tokens) was hidden to free context. To read it again, recall index 1, part 0.]\n",
		"a long one":   "四\n",
	} {
		t.Run(name, func(t *testing.T) {
			d := start(t)
			d.create("s", &compactordv1.Policy{OnAppend: listOf(&compactordv1.Strategy{
				Kind: &compactordv1.Strategy_Offload{Offload: &compactordv1.OffloadStrategy{
					OverTokens: proto.Uint32(1), PreviewChars: proto.Uint32(100_000),
				}},
			})})
			text := strings.Repeat(line, 200_000/len(line)+60_000)
			d.append("s", user("go"), assistant("reading", call("a", "read", `{}`)), toolResult("a", text))
			shown := d.view("s")[2].GetMessage().GetParts()[0].GetToolResult().GetParts()[0].GetText().GetText()
			require.Greater(t, len(shown), 90_000)
			req := recallBy(shown)
			req.MaxBytes = 3 << 20
			answer := d.recall(req)
			require.Equal(t, uint32(2), answer.GetIndex())
			require.Equal(t, uint32(len(text)), answer.GetTotalBytes())
		})
	}
}
