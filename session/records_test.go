package session_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
)

// Records without a view change do not make the program panic.
func TestApplyWithoutAViewChange(t *testing.T) {
	w := newLog(user("12345678"))
	for _, r := range []*compactordv1.Record{
		{Sequence: 2, Kind: &compactordv1.Record_Prune{Prune: &compactordv1.PruneEntry{}}},
		{Sequence: 2, Kind: &compactordv1.Record_Pin{Pin: &compactordv1.PinChange{}}},
		{Sequence: 2, Kind: &compactordv1.Record_Compaction{Compaction: &compactordv1.CompactionEntry{}}},
	} {
		h, err := session.Apply(w.Head, nil, r, nil)
		require.NoError(t, err)
		require.Equal(t, uint32(session.FirstViewFormat), h.GetViewFormat())
		require.Equal(t, uint32(2), h.GetLastViewChange())
	}
}

func TestApplyRefusesUnknownRecords(t *testing.T) {
	_, err := session.Apply(newLog().Head, nil, &compactordv1.Record{Sequence: 1}, nil)
	require.ErrorIs(t, err, session.ErrUnknownRecord)
}

func pruneFor(w *sessiontest.Writer, reason compactordv1.CompactionReason) {
	w.Write(&compactordv1.Record{Kind: &compactordv1.Record_Prune{Prune: &compactordv1.PruneEntry{
		Provenance: &compactordv1.Provenance{Reason: reason},
		Edits: []*compactordv1.Edit{{
			Index: 2, Kind: compactordv1.EditKind_EDIT_KIND_HIDE_RESULT, Replacement: "[hidden]",
		}},
	}}})
}

// The head says how much had been appended when the view was last rewritten.
func TestRewrittenAtTokens(t *testing.T) {
	w := newLog(user("four"), assistant(calling("a", "read", `{"a":"bcdef"}`)), answers("a", "forty characters of what a file may hold"))
	require.Equal(t, uint32(16), w.Head.GetAppendedTokens())
	require.Nil(t, w.Head.RewrittenAtTokens)
	point := session.Point(w.Head)

	pruneFor(w, compactordv1.CompactionReason_COMPACTION_REASON_USER_MESSAGE)
	require.Nil(t, w.Head.RewrittenAtTokens, "every request brings such a prune")

	pruneFor(w, compactordv1.CompactionReason_COMPACTION_REASON_THRESHOLD)
	require.Equal(t, uint32(16), w.Head.GetRewrittenAtTokens())
	pruned := session.Point(w.Head)

	w.Append(user("eight ch"), nil)
	require.Equal(t, uint32(18), w.Head.GetAppendedTokens())
	require.Equal(t, uint32(16), w.Head.GetRewrittenAtTokens())

	compact(w, 3, "s")
	require.Equal(t, uint32(18), w.Head.GetRewrittenAtTokens())

	revert(w, pruned)
	require.Equal(t, uint32(16), w.Head.GetRewrittenAtTokens(), "the compaction is put aside")
	require.Equal(t, uint32(18), w.Head.GetAppendedTokens(), "what was appended is not taken back")

	revert(w, point)
	require.Nil(t, w.Head.RewrittenAtTokens)
}
