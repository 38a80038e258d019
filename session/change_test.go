package session_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// A change of placement that leaves the summary's messages the same does not change the view.
func TestSamePlacementInOtherWords(t *testing.T) {
	w := newLog(user("1"), says("2"), says("3"))
	compact(w, 2, "s")
	pair := compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_PAIR
	setPolicy(w, &compactordv1.Policy{Summary: &compactordv1.SummaryPolicy{Placement: &pair}})
	change := w.Log.Items[w.Log.Newest()].Record.GetPolicyChange().GetViewChange()
	require.NotNil(t, change)
	require.Nil(t, change.ChangedFrom, "a kept part that begins with ASSISTANT follows one USER message either way")
}
