package strategies_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func keepMedia(n uint32) *compactordv1.Strategy {
	return stripping(&compactordv1.StripMediaStrategy{KeepNewest: proto.Uint32(n)})
}

// The same text as opencode: the type, and the name or `file`. A result with several media has one text.
func TestStripMediaTellsTypeAndName(t *testing.T) {
	t.Parallel()
	l := newLog().script("P")
	shots := l.used("shot", `{}`, piece("see"), imagePiece("a.png"), imagePiece(""))
	one := l.used("shot", `{}`, imagePiece(""))
	l.script("A")
	made := planned(t, l, stripping(nil))
	require.Equal(t, map[uint32]string{
		0:     "[Attached image/png: plan.png]",
		shots: "[Attached image/png: a.png]\n[Attached image/png: file]",
		one:   "[Attached image/png: file]",
	}, replacements(made))
	require.Equal(t, uint32(1), made.GetEdits()[0].GetPart(), "the text of the message stays")
	requireConverged(t, l, made, stripping(nil))
	require.Zero(t, l.head().GetViewMediaTokens())
}

// Media are counted, not messages. Media of one result stay together if one of them is to stay, and older ones are
// replaced.
func TestStripMediaKeepsTheNewest(t *testing.T) {
	t.Parallel()
	l := newLog().script("P P U")
	three := l.used("shot", `{}`, imagePiece("a"), imagePiece("b"), imagePiece("c"))
	one := l.used("shot", `{}`, imagePiece("d"))
	l.script("A")
	for keep, want := range map[uint32][]uint32{
		0: {0, 1, three, one}, 1: {0, 1, three}, 2: {0, 1}, 3: {0, 1}, 4: {0, 1}, 5: {0}, 6: nil, 10_000: nil,
	} {
		made := planned(t, l, keepMedia(keep))
		require.Equal(t, want, indexesOf(made), "keep %d", keep)
	}
	requireConverged(t, l, planned(t, l, keepMedia(4)), keepMedia(4))
}

// Pinned media count and stay. Media that the view does not show neither count nor stay.
func TestStripMediaOfWhatTheViewShows(t *testing.T) {
	t.Parallel()
	l := newLog().script("P P")
	gone := l.used("shot", `{}`, piece(textOf(50)), imagePiece("gone"))
	collapsed := l.used("shot", `{}`, imagePiece("collapsed"))
	l.commit(&plan{Edits: []*compactordv1.Edit{
		{Index: gone, Kind: compactordv1.EditKind_EDIT_KIND_HIDE_RESULT, Replacement: "[hidden]"},
		{Index: collapsed - 1, Kind: compactordv1.EditKind_EDIT_KIND_COLLAPSE_GROUP, Replacement: "- shot"},
	}}, "")
	l.script("X:void V:void V:stray A P P")
	stray, pinned := uint32(len(l.messages)-4), uint32(len(l.messages)-1)
	l.pin(pinned)
	require.Equal(t, []uint32{0, 1, stray, pinned - 1}, indexesOf(planned(t, l, stripping(nil))))
	require.Equal(t, []uint32{0, 1, stray}, indexesOf(planned(t, l, keepMedia(2))))
	require.Equal(t, []uint32{0, 1}, indexesOf(planned(t, l, keepMedia(4))))
	requireConverged(t, l, planned(t, l, stripping(nil)), stripping(nil))

	// The model has not seen how an open group ends.
	l = newLog().script("U T:a,b V:a")
	require.Equal(t, nothing, planned(t, l, stripping(nil)).GetSkipReason())
}

// A medium that is not larger than its line stays.
func TestStripMediaWhereItFreesSomething(t *testing.T) {
	t.Parallel()
	l := newLog()
	l.add(&compactordv1.Message{Role: compactordv1.Role_ROLE_USER, Parts: []*compactordv1.Part{{
		Kind: &compactordv1.Part_Media{Media: &compactordv1.MediaPart{
			MimeType: "text/plain", Name: "note.txt", Source: &compactordv1.MediaPart_Data{Data: []byte("brief")},
		}},
	}}})
	require.Equal(t, nothing, planned(t, l, stripping(nil)).GetSkipReason())
}

// A result with more media than were to be kept was stripped, and with it the newest medium.
func TestStripMediaLeavesAResultWithMoreThanItKeeps(t *testing.T) {
	t.Parallel()
	l := newLog().script("P U")
	l.used("shot", `{}`, imagePiece("a"), imagePiece("b"), imagePiece("c"))
	l.script("A")
	for _, keep := range []uint32{1, 2, 3} {
		require.Equal(t, []uint32{0}, indexesOf(planned(t, l, keepMedia(keep))), "keep %d", keep)
	}
}

// Results were stripped before the model had read them, so it could never say what it saw. A failed answer does not
// count as one, and an overflow would only occur again.
func TestStripMediaLeavesWhatNoModelHasRead(t *testing.T) {
	t.Parallel()
	l := newLog().script("U")
	read := l.used("shot", `{}`, imagePiece("read"))
	l.script("T:a,b V:a V:b")
	require.Equal(t, []uint32{read}, indexesOf(planned(t, l, stripping(nil))))
	l.script("U X")
	require.Equal(t, []uint32{read}, indexesOf(planned(t, l, stripping(nil))), "the answer failed")
	require.Equal(t, []uint32{read, read + 2, read + 3}, indexesOf(plannedBecause(t, l, overflow, stripping(nil))))
	l.script("A")
	require.Equal(t, []uint32{read, read + 2, read + 3}, indexesOf(planned(t, l, stripping(nil))))
}

// Compaction was due and nothing could be cut, but the media stayed: at each step the agent was told to compact again.
func TestStripMediaGivesWayWhereNothingCanBeCut(t *testing.T) {
	t.Parallel()
	const threshold = compactordv1.CompactionReason_COMPACTION_REASON_THRESHOLD
	l := newLog().script("T V")
	require.Equal(t, nothing, planned(t, l, keepMedia(1)).GetSkipReason(), "by hand they stay")
	require.Equal(t, []uint32{1}, indexesOf(plannedBecause(t, l, threshold, keepMedia(1))))
	l = newLog().script("U T V")
	require.Equal(t, nothing, plannedBecause(t, l, threshold, keepMedia(1)).GetSkipReason(), "what the user said can be cut")
}
