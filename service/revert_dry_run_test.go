package service_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// A dry run returns what the revert then does, and writes nothing, not even its request id.
func TestDryRunOfARevertWritesNothing(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", small(1000))
	d.append("s", working(6, 2000)...)
	checkpoint := d.checkpoint("s", false)
	d.append("s", working(3, 2000)[1:]...)
	_, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	d.append("s", user("one more"), assistant("done"))

	told := turnsBack(1)
	told.MessageFromFuture = "Do it otherwise."
	summarized := turnsBack(3)
	summarized.Summarize = true
	for i, request := range []*compactordv1.RevertToCheckpointRequest{
		toCheckpoint(checkpoint.GetId()), undo(), turnsBack(1), told, undo(), summarized, turnsBack(2), toPoint(1),
	} {
		request.RequestId = fmt.Sprint("request ", i)
		tried := proto.CloneOf(request)
		tried.DryRun = true
		var foreseen *compactordv1.RevertToCheckpointResponse
		d.requireUnchanged(t, func() { foreseen = d.revert(tried) })
		done := d.revert(request)
		if request.GetSummarize() {
			require.Less(t, foreseen.GetReport().GetTokens(), done.GetReport().GetTokens(), "the summary is not written")
			continue
		}
		require.Empty(t, cmp.Diff(done, foreseen, protocmp.Transform(),
			protocmp.IgnoreFields(&compactordv1.Record{}, "created_at")))
	}
	d.requireSound(t)
}
