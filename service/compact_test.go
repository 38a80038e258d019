package service_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func TestCompactEndToEnd(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", small(1000))
	d.append("s", working(10, 2000)...)
	before := d.view("s")
	require.Len(t, before, 41)

	events, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	require.NotNil(t, events[0].GetStarted())
	done := last(t, events).GetCompleted()
	require.NotNil(t, done)
	entry := done.GetCompaction()
	t.Log(entry.GetSummary())
	require.Less(t, entry.GetTokensAfter(), entry.GetTokensBefore())

	after := d.view("s")
	require.Equal(t, compactordv1.Role_ROLE_SYSTEM, after[0].GetMessage().GetRole())
	require.Equal(t, entry.GetId(), after[1].GetSummaryOf())
	require.Equal(t, entry.GetFirstKeptIndex(), after[2].GetIndex())
	require.Less(t, len(after), len(before))
}

// Entries have the strategy with its defaults.
func TestEntriesHoldResolvedParameters(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", &compactordv1.Policy{ContextWindow: proto.Uint32(12_000)})
	d.append("s", working(20, 2000)...)
	events, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	rungs := last(t, events).GetCompleted().GetCompaction().GetProvenance().GetStrategy().GetLadder().GetRungs()
	used := rungs[len(rungs)-1].GetStrategy().GetSummarize()
	require.Equal(t, uint32(2250), used.GetRecentTokens(), "a quarter of the trigger")
	require.Positive(t, used.GetMaxSummaryTokens())
	require.NotNil(t, used.SplitTurn)
}
