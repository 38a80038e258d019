package service_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// A LATEST block that changes with every turn costs itself and the newest turn: what comes before that turn is the same in
// the next request, and a breakpoint stands there.
func TestChangingLatestBlockKeepsThePrefixBeforeTheNewestTurn(t *testing.T) {
	t.Parallel()
	for _, shape := range dialects.All() {
		t.Run(shape.Name(), func(t *testing.T) {
			t.Parallel()
			d := start(t)
			d.create("s", nil)
			d.append("s", system("You are careful."))
			var before []string
			turns := func(n int) int { return 2 * n }
			for turn := range 6 {
				d.setBlock("s", &compactordv1.ContextBlock{
					Name: "plan", Parts: []*compactordv1.Part{textPart(fmt.Sprintf("Step %d of the plan.", turn))},
				})
				d.append("s", user(fmt.Sprintf("Do step %d.", turn)))
				answer, err := d.compactions.GetLLMView(t.Context(), &compactordv1.GetLLMViewRequest{
					Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: "s"}, Dialect: shape.Kind(),
				})
				require.NoError(t, err)
				now := answer.GetMessagesJson()
				shared := 0
				for shared < min(len(before), len(now)) && before[shared] == now[shared] {
					shared++
				}
				lead := len(now) - turns(turn) - 1
				if strings.Contains(now[len(now)-1], "Do step") && !strings.Contains(now[len(now)-1], "of the plan") {
					// The dialect does not merge the block and the request.
					lead--
				}
				if turn > 0 {
					require.Equal(t, lead+turns(turn-1), shared, "turn %d", turn)
				}
				if turn > 1 {
					require.Contains(t, answer.GetViewReport().GetSuggestedBreakpoints(), uint32(lead+turns(turn)-1))
				}
				before = now
				d.append("s", assistant(fmt.Sprintf("Step %d is done.", turn)))
			}
		})
	}
}

// setBlock sets one context block.
func (d *daemon) setBlock(id string, b *compactordv1.ContextBlock) *compactordv1.UpdateContextBlocksResponse {
	d.t.Helper()
	answer, err := d.sessions.UpdateContextBlocks(d.t.Context(), &compactordv1.UpdateContextBlocksRequest{
		SessionId: id, Set: []*compactordv1.ContextBlock{b},
	})
	require.NoError(d.t, err)
	return answer
}

// With a summary and LATEST blocks, the three breakpoints stand after the summary, before the blocks, and at the end.
func TestBreakpointsWithASummaryAndABlock(t *testing.T) {
	t.Parallel()
	d, _ := caseDaemon(t, 1000, append([]*compactordv1.Message{system("Be careful.")}, working(10, 2000)[1:]...)...)
	d.completed(nil)
	for _, place := range []compactordv1.BlockPlace{
		compactordv1.BlockPlace_BLOCK_PLACE_LEADING, compactordv1.BlockPlace_BLOCK_PLACE_LATEST,
	} {
		d.setBlock("s", &compactordv1.ContextBlock{
			Name: place.String(), Place: place, Parts: []*compactordv1.Part{textPart("A plan.")},
		})
	}
	answer, err := d.compactions.GetLLMView(t.Context(), &compactordv1.GetLLMViewRequest{
		Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: "s"},
	})
	require.NoError(t, err)
	summary, latest := uint32(0), uint32(0)
	for i, vm := range answer.GetMessages() {
		if vm.GetSummaryOf() != "" {
			summary = uint32(i)
		}
		if vm.GetContextBlock().GetPlace() == compactordv1.BlockPlace_BLOCK_PLACE_LATEST {
			latest = uint32(i)
		}
	}
	require.Equal(t, uint32(2), summary, "the LEADING block stands before it")
	require.Equal(t, []uint32{summary, latest - 1, uint32(len(answer.GetMessages()) - 1)},
		answer.GetViewReport().GetSuggestedBreakpoints())
}
