package session_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

const note = "[The request below made the conversation too long for the provider. The conversation was compacted, and " +
	"attached media were taken out of it. Go on with the request from where the summary leaves off.]"

// A compaction may replay a message that an earlier one covers. The next compaction can remove it, so it is not among
// the fixed tokens.
func TestReplayOfWhatWasCovered(t *testing.T) {
	w := newLog(user("12345678"), says("1"), says("2"), says("3"))
	compact(w, 1, "s")
	compactReplaying(w, 2, 0)
	require.Equal(t, []string{
		`user 0 out of place: "` + note + `" "12345678"`, `assistant 2: "2"`, `assistant 3: "3"`,
	}, viewLines(w)[1:])
	require.Zero(t, w.Head.GetPinnedTokens())
	require.True(t, proto.Equal(w.State().WithMetrics(), w.Head))

	compact(w, 3, "t")
	require.Equal(t, []string{`assistant 3: "3"`}, viewLines(w)[1:])
}

// Only the replayed message is taken from the loaded state: edits written just before are only in the state at hand.
func TestReplayOfWhatWasCoveredKeepsEditsThatAreNotStored(t *testing.T) {
	w := newLog(user("12345678"), says("1"), says("2"), message(compactordv1.Role_ROLE_ASSISTANT,
		session.TextPart("See."), pictured("pier.png")))
	compact(w, 2, "s")
	pin(w, 1)
	stored := w.State()
	told := &compactordv1.Edit{Index: 0, Kind: compactordv1.EditKind_EDIT_KIND_REPLACE_MEDIA, Replacement: "[A ship]"}
	edit := &compactordv1.Edit{
		Index: 3, Part: 1, Kind: compactordv1.EditKind_EDIT_KIND_REPLACE_MEDIA, Replacement: "[A pier]",
	}
	pruned, err := session.Write(stored, &compactordv1.Record{Kind: &compactordv1.Record_Prune{
		Prune: &compactordv1.PruneEntry{Edits: []*compactordv1.Edit{edit}},
	}}, nil, nil)
	require.NoError(t, err)
	replaying := &compactordv1.Record{Kind: &compactordv1.Record_Compaction{Compaction: &compactordv1.CompactionEntry{
		FirstKeptIndex: 3, Summary: "t", ReplayedIndex: proto.Uint32(0),
	}}}
	written, err := session.Write(pruned.State, replaying, nil, func(h *storagev1.Head) (*session.State, error) {
		loaded := *stored
		loaded.Head, loaded.OutOfPlace = h, w.Messages[:2]
		loaded.Edits = map[uint32][]*compactordv1.Edit{0: {told}}
		return &loaded, nil
	})
	require.NoError(t, err)
	require.Equal(t, map[uint32][]*compactordv1.Edit{0: {told}, 3: {edit}}, written.State.Edits)
	require.Len(t, written.State.OutOfPlace, 2)
	require.Zero(t, written.State.Head.GetViewMediaTokens())
	require.Empty(t, pruned.State.Edits[0], "the state before is left alone")
}

// Case 160: lines with the kind and the name replace media, `file` replaces a missing name, and texts stay.
func TestCase160ReplaysMediaAsLines(t *testing.T) {
	w := newLog(user("Read."), says("Done."), message(compactordv1.Role_ROLE_USER,
		session.TextPart("And this?"), pictured("name"), pictured(""), session.TextPart("Hurry.")), says("1"), says("2"))
	compactReplaying(w, 4, 2)
	require.Equal(t, `user 2 out of place replace_media: "`+note+
		`" "And this?" "[Attached image/png: name]" "[Attached image/png: file]" "Hurry."`, viewLines(w)[1])
	// The log still has the media, and the view no longer counts their tokens.
	require.Len(t, w.Messages[2].GetMessage().GetParts(), 4)
	require.NotNil(t, w.Messages[2].GetMessage().GetParts()[1].GetMedia())
	require.Zero(t, w.Head.GetViewMediaTokens())
	require.Zero(t, w.Head.GetViewMediaBytes())
	vm := w.State().View(everyOption[0]).Messages[1]
	require.Equal(t, session.MessageTokens(w.State().Counter, vm.GetMessage()), vm.GetTokens())
}

// A pinned message is shown word for word, with its media, also where a compaction wanted to replay it.
func TestPinnedMessageIsNoReplay(t *testing.T) {
	w := newLog(message(compactordv1.Role_ROLE_USER, session.TextPart("See."), pictured("a")), says("1"), says("2"))
	compactReplaying(w, 2, 0)
	require.Contains(t, viewLines(w)[1], note)
	require.True(t, session.Replayed(w.Head, 0))
	pin(w, 0)
	require.NotContains(t, viewLines(w)[1], note)
	require.NotContains(t, viewLines(w)[1], "Attached")
	require.False(t, session.Replayed(w.Head, 0))
	require.Equal(t, uint32(0), w.State().ReplayedMessage().GetIndex())
	require.NotNil(t, w.State().ReplayedMessage())
	require.Positive(t, w.Head.GetPinnedTokens())
	w.Write(&compactordv1.Record{Kind: &compactordv1.Record_Unpin{
		Unpin: &compactordv1.PinChange{Indexes: []uint32{0}, Members: []uint32{0}},
	}})
	require.Contains(t, viewLines(w)[1], note)
}

// Thinking in the kept part depended on the request in its first place.
func TestReplayMakesThinkingInvalid(t *testing.T) {
	w := newLog(user("See."), says("1"), user("Go."), assistant(thinking("hm"), session.TextPart("2")))
	compact(w, 1, "s")
	require.NotContains(t, viewLines(w)[len(viewLines(w))-1], "hm")
	w.Append(user("Again."), nil)
	w.Append(assistant(thinking("ha"), session.TextPart("3")), nil)
	require.Contains(t, viewLines(w)[len(viewLines(w))-1], "ha")
	compactReplaying(w, 3, 2)
	require.NotContains(t, viewLines(w)[len(viewLines(w))-1], "ha")
}
