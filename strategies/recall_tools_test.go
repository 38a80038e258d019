package strategies_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Recall tools were recognized only by their bare names, so an agent that got them from a server lost again what it had
// recalled.
func TestRecallToolsOfServersAreKnown(t *testing.T) {
	t.Parallel()
	for name, known := range map[string]bool{
		"recall_content": true, "search_messages": true, "recall": true,
		"mcp__compactord__recall_content": true, "mcp__log-keeper__search_messages": true, "mcp__memory__recall": true,
		"compactord.recall_content": true, "compactord.recall": true, "functions.search_messages": true,
		"compactord_recall_content": true, "log-keeper_search_messages": true, "compactord/recall": true, "x:recall": true,

		"recall_contents": false, "recall_content_2": false, "mcp__recall_content__write": false, "recall.read": false,
		"product_recall": false, "precall": false, "research_messages": false, "autorecall_content": false, "": false,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLog().script("U")
			at := l.used(name, `{}`, piece(textOf(5000)))
			l.script("A")
			for _, s := range []*compactordv1.Strategy{
				hideTools(keepGroups(0)), offloading(nil), cutTo(100), compressOver(900, 0), pruneTools(&compactordv1.PruneToolOutputsStrategy{
					KeepTurns: proto.Uint32(0), KeepTokens: proto.Uint32(0), MinimumTokens: proto.Uint32(0),
				}),
				{Kind: &compactordv1.Strategy_ClearToolUses{ClearToolUses: &compactordv1.ClearToolUsesStrategy{
					KeepCalls: proto.Uint32(0), TriggerTokens: proto.Uint32(0),
				}}},
			} {
				want := []uint32{at}
				if known {
					want = nil
				}
				require.Equal(t, want, indexesOf(planned(t, l, s)), s)
			}
			l = newLog().script("U")
			l.used(name, `{}`, piece(textOf(5000)))
			require.Equal(t, known, len(arriving(l, onAppend(offloading(nil)))) == 0, "on arrival")
		})
	}
}
