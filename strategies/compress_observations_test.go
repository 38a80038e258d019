package strategies_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func compressOver(tokens, groups uint32) *compactordv1.Strategy {
	return compressing(&compactordv1.CompressObservationsStrategy{
		OverTokens: proto.Uint32(tokens), KeepGroups: proto.Uint32(groups),
	})
}

// The summarizer's budget is a quarter of a result, but at most the limit, and at least 64 tokens.
func TestCompressExpects(t *testing.T) {
	t.Parallel()
	for size, freed := range map[int]uint32{
		2000: 0, 2001: 1501, 8000: 6000, 8003: 6003, 8004: 6004, 20_000: 18_000,
	} {
		l := newLog().script("U T:a")
		l.add(l.message("R", size, "a"))
		made := planned(t, l, compressOver(2000, 0))
		if freed == 0 {
			require.Empty(t, made.GetEdits(), "%d tokens", size)
			continue
		}
		requireEqual(t, &compactordv1.Edit{
			Index: 2, Kind: compactordv1.EditKind_EDIT_KIND_COMPRESS_RESULT, TokensFreed: freed, BySummarizer: true,
		}, made.GetEdits()[0])
		requireConverged(t, l, made, compressOver(2000, 0))
	}
	l := newLog().script("U T:a,b R64:a R65:b")
	require.Equal(t, uint32(1), planned(t, l, compressOver(1, 0)).GetEdits()[0].GetTokensFreed())
	require.Equal(t, []uint32{3}, indexesOf(planned(t, l, compressOver(1, 0))))
}

func TestCompressLeavesAlone(t *testing.T) {
	t.Parallel()
	l := newLog().script("U T:a,recall/b,c R900:a R900:b R900:c T:a E900:a T:a R900:a T:a R900:a T:a,b R900:a")
	l.pin(8)
	require.Equal(t, nothing, planned(t, l, compressing(nil)).GetSkipReason(), "2,000 tokens are the default")
	// The candidates are 2, 3 (recalled), 4, 6 (an error), 8 (pinned), 10, and 12 (in the open group).
	require.Equal(t, []uint32{2, 4, 6, 10}, indexesOf(planned(t, l, compressOver(899, 1))))
	require.Equal(t, []uint32{2, 4, 6}, indexesOf(planned(t, l, compressOver(899, 2))))
	require.Equal(t, []uint32{2, 4}, indexesOf(planned(t, l, compressOver(899, 4))))
	require.Empty(t, planned(t, l, compressOver(900, 0)).GetEdits())
	l.commit(&plan{Edits: []*compactordv1.Edit{{
		Index: 2, Kind: compactordv1.EditKind_EDIT_KIND_TRUNCATE_RESULT, Replacement: "words",
	}}}, "")
	require.Equal(t, []uint32{4}, indexesOf(planned(t, l, compressOver(899, 4))))

	// Nor a result without its media, whose text is shorter than the log's count.
	l = newLog().script("U T:a V:a A")
	require.Len(t, planned(t, l, compressOver(2000, 0)).GetEdits(), 1)
	l.commit(planned(t, l, stripping(nil)), "")
	require.Equal(t, nothing, planned(t, l, compressOver(2000, 0)).GetSkipReason())
}
