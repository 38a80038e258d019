package service_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// A history had its view by the daemon's default policy, whatever Compact had been told: no on_append, and the summary in
// another place than the client asked for.
func TestViewOfAHistoryTakesThePolicyOfTheRequest(t *testing.T) {
	t.Parallel()
	d := start(t)
	policy := keepTurns(1)
	policy.ContextWindow = proto.Uint32(40_000)
	policy.Summary = &compactordv1.SummaryPolicy{Placement: compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_PAIR.Enum()}
	policy.OnAppend = truncating(100).GetOnAppend()
	messages := slices.Concat(reads("a", 4000), reads("b", 4000), reads("c", 4000))
	d.create("s", policy)
	d.append("s", messages...)
	events, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)

	req := historyTarget(&compactordv1.InlineHistory{
		Messages: messages, Compaction: last(t, events).GetCompleted().GetCompaction(),
	})
	req.Policy = policy
	answer, err := d.compactions.GetLLMView(t.Context(), req)
	require.NoError(t, err)
	want := d.view("s")
	require.Len(t, answer.GetMessages(), len(want))
	for i, m := range want {
		require.True(t, proto.Equal(m.GetMessage(), answer.GetMessages()[i].GetMessage()), "message %d", i)
	}
	require.Equal(t, compactordv1.Role_ROLE_ASSISTANT, answer.GetMessages()[1].GetMessage().GetRole(), "the pair's second")
	require.Equal(t, uint32(40_000), answer.GetReport().GetContextWindow())

	req.Policy = &compactordv1.Policy{Preset: proto.String("unheard_of")}
	_, err = d.compactions.GetLLMView(t.Context(), req)
	requireReason(t, err, codes.InvalidArgument, "UNKNOWN_NAME")
}

func TestViewOfASessionTakesNoPolicy(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	_, err := d.compactions.GetLLMView(t.Context(), &compactordv1.GetLLMViewRequest{
		Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: "s"}, Policy: &compactordv1.Policy{},
	})
	requireInvalid(t, err, "policy", "goes with a history")
}

// What was offloaded was not to be had by its placeholder where the preview quoted references, or was a long one.
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
