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

// opencode's text: the type, and the name or `file`. A result with several is told in one text.
func TestStripMediaTellsTypeAndName(t *testing.T) {
	t.Parallel()
	l := newLog().script("P")
	shots := l.used("shot", `{}`, piece("see"), imagePiece("a.png"), imagePiece(""))
	one := l.used("shot", `{}`, imagePiece(""))
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

// Media are counted, not messages. Those of one result go or stay together, and so goes what is older.
func TestStripMediaKeepsTheNewest(t *testing.T) {
	t.Parallel()
	l := newLog().script("P P U")
	three := l.used("shot", `{}`, imagePiece("a"), imagePiece("b"), imagePiece("c"))
	one := l.used("shot", `{}`, imagePiece("d"))
	for keep, want := range map[uint32][]uint32{
		0: {0, 1, three, one}, 1: {0, 1, three}, 2: {0, 1, three}, 3: {0, 1, three}, 4: {0, 1}, 5: {0}, 6: nil, 10_000: nil,
	} {
		made := planned(t, l, keepMedia(keep))
		require.Equal(t, want, indexesOf(made), "keep %d", keep)
	}
	requireConverged(t, l, planned(t, l, keepMedia(4)), keepMedia(4))
}

// What is pinned counts and stays; what the view does not show, or shows no longer, does neither.
func TestStripMediaOfWhatTheViewShows(t *testing.T) {
	t.Parallel()
	l := newLog().script("P P")
	gone := l.used("shot", `{}`, piece(textOf(50)), imagePiece("gone"))
	folded := l.used("shot", `{}`, imagePiece("folded"))
	l.commit(&plan{Edits: []*compactordv1.Edit{
		{Index: gone, Kind: compactordv1.EditKind_EDIT_KIND_HIDE_RESULT, Replacement: "[hidden]"},
		{Index: folded - 1, Kind: compactordv1.EditKind_EDIT_KIND_COLLAPSE_GROUP, Replacement: "- shot"},
	}}, "")
	l.script("X:void V:void V:stray P P")
	stray, pinned := uint32(len(l.messages)-3), uint32(len(l.messages)-1)
	l.pin(pinned)
	require.Equal(t, []uint32{0, 1, stray, pinned - 1}, indexesOf(planned(t, l, stripping(nil))))
	require.Equal(t, []uint32{0, 1, stray}, indexesOf(planned(t, l, keepMedia(2))))
	require.Equal(t, []uint32{0, 1}, indexesOf(planned(t, l, keepMedia(4))))
	requireConverged(t, l, planned(t, l, stripping(nil)), stripping(nil))

	// Nobody has seen yet how an open group ends.
	l = newLog().script("U T:a,b V:a")
	require.Equal(t, nothing, planned(t, l, stripping(nil)).GetSkipReason())
}

// A medium that takes no more than its line stays.
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
