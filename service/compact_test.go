package service_test

import (
	"testing"

	"github.com/stretchr/testify/require"

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
