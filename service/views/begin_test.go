package views_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/views"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
)

func said(role compactordv1.Role, parts ...*compactordv1.Part) *compactordv1.Message {
	return &compactordv1.Message{Role: role, Parts: parts}
}

func placing(placement compactordv1.SummaryPlacement) *compactordv1.Policy {
	return &compactordv1.Policy{Summary: &compactordv1.SummaryPolicy{Placement: &placement}}
}

// Two earlier points are asked for by a policy of today, under which they differ in more than the record between them has
// written down: it compared views by the policy of then. A summary as a pair has a reply of the model, unless an answer
// of the model follows.
func TestViewsOfEarlierPointsChangeByThePolicyOfToday(t *testing.T) {
	t.Parallel()
	w := sessiontest.NewWriter(placing(compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_USER))
	log := written{w}
	w.Append(said(compactordv1.Role_ROLE_USER, session.TextPart("Look.")), nil)
	w.Append(said(compactordv1.Role_ROLE_ASSISTANT, session.TextPart("I looked.")), nil)
	w.Append(said(compactordv1.Role_ROLE_ASSISTANT, &compactordv1.Part{
		Kind: &compactordv1.Part_Thinking{Thinking: &compactordv1.ThinkingPart{Text: "What now?"}},
	}), nil)
	w.Append(said(compactordv1.Role_ROLE_USER, session.TextPart("Go on.")), nil)
	w.Write(&compactordv1.Record{Kind: &compactordv1.Record_Compaction{Compaction: &compactordv1.CompactionEntry{
		Id: "c", FirstKeptIndex: 2, Summary: "They looked.",
	}}})
	before := w.Log.Newest()
	w.Write(&compactordv1.Record{Kind: &compactordv1.Record_Prune{Prune: &compactordv1.PruneEntry{
		Edits: []*compactordv1.Edit{{Index: 2, Kind: compactordv1.EditKind_EDIT_KIND_DROP_THINKING}},
	}}})
	after := w.Log.Newest()
	today := placing(compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_PAIR)
	w.Policy = today
	w.Write(&compactordv1.Record{Kind: &compactordv1.Record_PolicyChange{
		PolicyChange: &compactordv1.PolicyChange{Given: today, Resolved: today},
	}})

	first := neutral(t, log, w.HeadAt(before), "")
	require.Len(t, first.GetMessages(), 3, "the summary, the answer, the user")
	second := neutral(t, log, w.HeadAt(after), first.GetViewToken())
	require.Equal(t, uint32(1), second.GetUnchangedPrefix(), "the client takes its answer for the reply to the summary")
	require.Len(t, second.GetMessages(), 2)
	require.Equal(t, "c", second.GetMessages()[0].GetSummaryOf())
}

func neutral(t *testing.T, log written, head *storagev1.Head, token string) *compactordv1.GetLLMViewResponse {
	t.Helper()
	answer, err := views.Neutral(t.Context(), log, &views.Request{
		Row: log.row(), Head: head, Held: token, MaxBytes: 1 << 20,
	})
	require.NoError(t, err)
	return answer
}
