package service_test

import (
	"fmt"
	"strings"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/sessiontest"
)

// besideMessages changes what views show beside messages.
func (w *checkedService) besideMessages() {
	if w.draw(0, 5, "instructions") == 0 {
		w.replaceInstructions()
		return
	}
	w.updateBlocks()
}

// updateBlocks sets one block, and may remove another.
func (w *checkedService) updateBlocks() {
	names := []string{"plan", "memory", "environment"}
	set := names[w.draw(0, 2, "block")]
	w.counts["made block"]++
	b := &compactordv1.ContextBlock{
		Name: set, Place: compactordv1.BlockPlace(w.draw(1, 2, "place")), Priority: uint32(w.draw(0, 2, "priority")),
		Turns:     uint32(w.draw(0, 2, "turns")),
		MaxTokens: []uint32{0, 0, 50}[w.draw(0, 2, "most tokens")],
		Parts: []*compactordv1.Part{textPart(
			fmt.Sprintf("state %d ", w.counts["made block"]) + strings.Repeat("line\n", w.draw(0, 60, "lines")),
		)},
	}
	b.Operator = b.GetPlace() == compactordv1.BlockPlace_BLOCK_PLACE_LEADING && w.draw(0, 2, "operator") == 0
	req := &compactordv1.UpdateContextBlocksRequest{SessionId: checkedSession, Set: []*compactordv1.ContextBlock{b}}
	if other := names[w.draw(0, 2, "removed")]; other != set {
		req.Remove = []string{other}
	}
	answer, err := w.service.UpdateContextBlocks(w.t.Context(), req)
	require.NoError(w.t, err)
	require.NotNil(w.t, answer.Sequence)
	list, err := w.service.ListContextBlocks(w.t.Context(), &compactordv1.ListContextBlocksRequest{
		SessionId: checkedSession, Names: []string{set},
	})
	require.NoError(w.t, err)
	require.Len(w.t, list.GetBlocks(), 1)
	state := list.GetBlocks()[0]
	require.Equal(w.t, answer.GetSequence(), state.GetSequence())
	b.Tokens = state.GetBlock().GetTokens()
	require.Equal(w.t, sessiontest.Bytes(b), sessiontest.Bytes(state.GetBlock()))
	var shown uint32
	for _, vm := range w.view() {
		if vm.GetContextBlock() != nil {
			shown += vm.GetTokens()
		}
	}
	require.Equal(w.t, shown, answer.GetReport().GetContextBlockTokens())
	w.counts["context block set"]++
}

func (w *checkedService) replaceInstructions() {
	w.counts["made instruction"]++
	text := fmt.Sprintf("Rule %d", w.counts["made instruction"])
	_, err := w.service.ReplaceInstructions(w.t.Context(), &compactordv1.ReplaceInstructionsRequest{
		SessionId: checkedSession, Messages: []*compactordv1.Message{system(text)},
	})
	require.NoError(w.t, err)
	first := w.view()[0]
	require.Equal(w.t, text, first.GetMessage().GetParts()[0].GetText().GetText())
	require.NotZero(w.t, first.GetInstructions())
	w.counts["instructions replaced"]++
}
