package service_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// The view of a history used the daemon's default policy, whatever policy Compact had: it had no on_append, and the
// summary in another place than the client wanted.
func TestViewOfAHistoryUsesThePolicyOfTheRequest(t *testing.T) {
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

func TestViewOfASessionRefusesAPolicy(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	_, err := d.compactions.GetLLMView(t.Context(), &compactordv1.GetLLMViewRequest{
		Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: "s"}, Policy: &compactordv1.Policy{},
	})
	requireInvalid(t, err, "policy", "goes with a history")
}
