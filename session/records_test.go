package session_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// Records without a view change do not bring the program down.
func TestApplyWithoutAViewChange(t *testing.T) {
	w := newLog(user("12345678"))
	for _, r := range []*compactordv1.Record{
		{Sequence: 2, Kind: &compactordv1.Record_Prune{Prune: &compactordv1.PruneEntry{}}},
		{Sequence: 2, Kind: &compactordv1.Record_Pin{Pin: &compactordv1.Pin{}}},
		{Sequence: 2, Kind: &compactordv1.Record_Compaction{Compaction: &compactordv1.CompactionEntry{}}},
	} {
		h, err := session.Apply(w.Head, r, nil)
		require.NoError(t, err)
		require.Equal(t, uint32(session.ViewFormat), h.GetViewFormat())
		require.Equal(t, uint32(2), h.GetLastViewChange())
	}
}

func TestApplyRefusesUnknownRecords(t *testing.T) {
	_, err := session.Apply(newLog().Head, &compactordv1.Record{Sequence: 1}, nil)
	require.ErrorIs(t, err, session.ErrUnknownRecord)
}
