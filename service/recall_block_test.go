package service_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// The words that end a block that is shown in part lead to the whole block.
func TestReferenceOfACutBlockLeadsToTheWholeBlock(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	d.append("s", user("Go on."))
	whole := strings.Repeat("a step\n", 200) + "the last step"
	b := extraBlock("plan.v2", whole)
	b.MaxTokens = 60
	d.setBlock("s", b)
	answer, err := d.compactions.GetLLMView(t.Context(), viewWith(""))
	require.NoError(t, err)
	first := answer.GetMessages()[0]
	require.True(t, first.GetContextBlock().GetCut())
	shown := first.GetMessage().GetParts()[0].GetText().GetText()
	require.NotContains(t, shown, "the last step")
	for _, reference := range []string{shown, "block plan.v2"} {
		recalled := d.recall(recallBy(reference))
		require.Equal(t, whole, recalled.GetText())
		require.Equal(t, "plan.v2", recalled.GetBlock())
	}
	_, err = d.sessions.UpdateContextBlocks(t.Context(), &compactordv1.UpdateContextBlocksRequest{
		SessionId: "s", Remove: []string{"plan.v2"},
	})
	require.NoError(t, err)
	_, err = d.sessions.RecallContent(t.Context(), recallBy("block plan.v2"))
	requireReason(t, err, codes.NotFound, "CONTENT_NOT_FOUND")
}
