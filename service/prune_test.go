package service_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// A dry run reports the context as it is.
func TestPruneDryRunReportsTheContextAsItIs(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	before := d.append("s", working(5, 4000)...).GetReport()
	answer, err := d.compactions.Prune(t.Context(), &compactordv1.PruneRequest{
		Target: &compactordv1.PruneRequest_SessionId{SessionId: "s"}, Policy: hideAllBut(1), DryRun: true,
	})
	require.NoError(t, err)
	require.NotEmpty(t, answer.GetPrune().GetEdits())
	require.Empty(t, answer.GetPrune().GetId())
	require.True(t, proto.Equal(before, answer.GetReport()))
	require.Len(t, d.records("s"), 1)
}

// An image by its address has many tokens and few bytes. Hiding it frees tokens, but makes a view that is too large in
// bytes larger.
func TestPruneByBytesWhereBytesWereTheTrigger(t *testing.T) {
	t.Parallel()
	d := start(t)
	picture := toolResult("a", "")
	picture.GetParts()[0].GetToolResult().Parts = []*compactordv1.ResultPart{{Kind: &compactordv1.ResultPart_Media{
		Media: &compactordv1.MediaPart{MimeType: "image/png", Source: &compactordv1.MediaPart_Uri{Uri: "https://a.example/1"}},
	}}}
	messages := []*compactordv1.Message{user("Look."), assistant("", call("a", "look", "{}")), picture, user("Thanks.")}
	pruned := func(id string, trigger *compactordv1.Trigger) *compactordv1.PruneResponse {
		policy := hideAllBut(0)
		policy.Trigger = trigger
		d.create(id, policy)
		d.append(id, messages...)
		answer, err := d.compactions.Prune(t.Context(), &compactordv1.PruneRequest{
			Target: &compactordv1.PruneRequest_SessionId{SessionId: id},
		})
		require.NoError(t, err)
		return answer
	}
	require.NotNil(t, pruned("by-tokens", nil).GetPrune())
	answer := pruned("by-bytes", &compactordv1.Trigger{MaxViewBytes: proto.Uint32(10)})
	require.Nil(t, answer.GetPrune())
	require.Equal(t, compactordv1.SkipReason_SKIP_REASON_NO_GAIN, answer.GetSkipReason())
	require.Contains(t, answer.GetMessage(), "bytes")
}
