package session_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/wording"
)

func dropThinking(index, part uint32) *compactordv1.Edit {
	return &compactordv1.Edit{Index: index, Part: part, Kind: compactordv1.EditKind_EDIT_KIND_DROP_THINKING}
}

// Of a message that edits have emptied a view shows nothing: providers take no message without content.
func TestEmptiedMessageIsNotShown(t *testing.T) {
	w := newLog(user("do"), assistant(calling("a", "read", "")), answers("a", "found"), user("on"), assistant(thinking("hm")), user("so"))
	prune(w, collapse(1, ""), dropThinking(4, 0))
	require.Equal(t, []string{`user 0: "do"`, `user 3: "on"`, `user 5: "so"`}, drawn(w))
	require.Equal(t, uint32(3), w.Head.GetViewMessages())
}

// What a message says beside its calls and its thinking stays, and so does one that the policy alone leaves no thinking.
func TestMessageIsShownWhereEditsLeaveText(t *testing.T) {
	w := newLog(user("do"), assistant(thinking("hm"), session.TextPart("look"), calling("a", "read", "")), answers("a", "found"), user("on"))
	prune(w, collapse(1, ""), dropThinking(1, 0))
	require.Equal(t, []string{`user 0: "do"`, `assistant 1 collapse_group drop_thinking: "look"`, `user 3: "on"`}, drawn(w))

	w = newLog(user("do"), assistant(thinking("hm")), user("on"))
	v := w.State().View(session.ViewOptions{Thinking: compactordv1.ThinkingPolicy_THINKING_POLICY_STRIP})
	require.Len(t, v.Messages, 3)
}

// A pin shows the message again, and no cut goes before one that may show nothing, be it only once it is unpinned.
func TestEmptiedMessageIsNoPlaceForACut(t *testing.T) {
	w := newLog(user("do"), assistant(calling("a", "read", "")), answers("a", "found"), developer("mind"), user("on"))
	places := func() (indexes []uint32) {
		for _, pos := range w.State().CutPlaces() {
			indexes = append(indexes, w.State().Kept[pos].GetIndex())
		}
		return indexes
	}
	require.Equal(t, []uint32{0, 1, 4}, places())
	prune(w, collapse(1, ""))
	require.Equal(t, []uint32{0, 4}, places())
	pin(w, 1)
	require.Equal(t, []uint32{0, 4}, places())
	require.Len(t, drawn(w), 5)
	unpin(w, 1)
	require.Len(t, drawn(w), 3)
}

// The answer to a summary stands before a USER message, also where an emptied one lies between.
func TestPairAnswersBeforeWhatIsShown(t *testing.T) {
	w := newLog(user("do"), assistant(calling("a", "read", "")), answers("a", "found"), user("on"))
	w.Policy = &compactordv1.Policy{Summary: &compactordv1.SummaryPolicy{
		Placement: compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_PAIR.Enum(),
	}}
	compact(w, 1, "Did.")
	require.Equal(t, compactordv1.Role_ROLE_ASSISTANT, w.State().View(session.ViewOptions{}).Messages[1].GetMessage().GetRole())
	require.NotZero(t, w.State().View(session.ViewOptions{}).Messages[1].GetIndex())
	prune(w, collapse(1, ""))
	v := w.State().View(session.ViewOptions{})
	require.Len(t, v.Messages, 3)
	require.Equal(t, wording.SummaryReply, v.Messages[1].GetMessage().GetParts()[0].GetText().GetText())
	require.Equal(t, uint32(3), v.Messages[2].GetIndex())
}
