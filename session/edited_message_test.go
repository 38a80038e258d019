package session_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/wording"
)

// The id generated for a call names the part by its position in the log, also where an edit drops a part before it.
func TestMadeIDHoldsWhereThinkingIsDropped(t *testing.T) {
	w := newLog(user("do"), assistant(thinking("hm"), calling("", "read", "")), answers("", "found"))
	prune(w, &compactordv1.Edit{Index: 1, Part: 0, Kind: compactordv1.EditKind_EDIT_KIND_DROP_THINKING})
	require.Equal(t, []string{
		`user 0: "do"`,
		`assistant 1 drop_thinking: call call_1_1 read()`,
		`tool 2: result call_1_1 "found"`,
	}, viewLines(w))
}

// Edits do not apply to a pinned message; after Unpin they apply again.
func TestPinSuspendsEdits(t *testing.T) {
	w := newLog(user("do"), assistant(calling("a", "read", "")), answers("a", "found"))
	prune(w, &compactordv1.Edit{Index: 2, Kind: compactordv1.EditKind_EDIT_KIND_HIDE_RESULT, Replacement: "[hidden]"})
	require.Equal(t, `tool 2 hide_result: result a "[hidden]"`, viewLines(w)[2])
	pin(w, 1)
	require.Equal(t, `tool 2: result a "found"`, viewLines(w)[2])
	w.Write(&compactordv1.Record{Kind: &compactordv1.Record_Unpin{Unpin: &compactordv1.PinChange{
		Indexes: []uint32{1}, Members: []uint32{1, 2},
	}}})
	require.Equal(t, `tool 2 hide_result: result a "[hidden]"`, viewLines(w)[2])
}

func collapse(index uint32, text string) *compactordv1.Edit {
	return &compactordv1.Edit{Index: index, Kind: compactordv1.EditKind_EDIT_KIND_COLLAPSE_GROUP, Replacement: text}
}

// A call that was closed without a result has no repair once its group is collapsed: the result would have no call.
func TestCollapsedGroupHasNoMissingResult(t *testing.T) {
	w := newLog(user("do"), assistant(calling("a", "read", ""), calling("b", "bash", "")), answers("a", "found"), user("stop"))
	prune(w, collapse(1, "read a, bash b: no result"))
	require.Equal(t, []string{
		`user 0: "do"`,
		`assistant 1 collapse_group: "read a, bash b: no result"`,
		`user 3: "stop"`,
	}, viewLines(w))
}

// A result in a collapsed group cannot be pruned.
func TestCollapsedResultIsNotPrunable(t *testing.T) {
	w := newLog(user("do"), assistant(calling("a", "read", "")), answers("a", "12345678"), user("on"))
	require.Equal(t, uint32(2), w.Head.GetPrunableTokens())
	prune(w, collapse(1, ""))
	require.Zero(t, w.Head.GetPrunableTokens())
}

func dropThinking(index, part uint32) *compactordv1.Edit {
	return &compactordv1.Edit{Index: index, Part: part, Kind: compactordv1.EditKind_EDIT_KIND_DROP_THINKING}
}

// Views do not show a message that edits have emptied: providers accept no message without content.
func TestEmptiedMessageIsNotShown(t *testing.T) {
	w := newLog(user("do"), assistant(calling("a", "read", "")), answers("a", "found"), user("on"), assistant(thinking("hm")), user("so"))
	prune(w, collapse(1, ""), dropThinking(4, 0))
	require.Equal(t, []string{`user 0: "do"`, `user 3: "on"`, `user 5: "so"`}, viewLines(w))
	require.Equal(t, uint32(3), w.Head.GetViewMessages())
}

// The text of a message next to its calls and its thinking stays. A message whose thinking only the policy removes
// stays too.
func TestMessageIsShownWhereEditsLeaveText(t *testing.T) {
	w := newLog(user("do"), assistant(thinking("hm"), session.TextPart("look"), calling("a", "read", "")), answers("a", "found"), user("on"))
	prune(w, collapse(1, ""), dropThinking(1, 0))
	require.Equal(t, []string{`user 0: "do"`, `assistant 1 collapse_group drop_thinking: "look"`, `user 3: "on"`}, viewLines(w))

	w = newLog(user("do"), assistant(thinking("hm")), user("on"))
	v := w.State().View(session.ViewOptions{Thinking: compactordv1.ThinkingPolicy_THINKING_POLICY_STRIP})
	require.Len(t, v.Messages, 3)
}

// A pin shows an emptied message again. No cut is valid before a message that is empty once it is unpinned.
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
	require.Len(t, viewLines(w), 5)
	unpin(w, 1)
	require.Len(t, viewLines(w), 3)
}

// The ASSISTANT message after a summary comes before a USER message, also where an emptied message is between them.
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

// The edit's text replaces the media in a result, and the other parts of the result stay.
func TestMediaOfResultAreReplacedByTheText(t *testing.T) {
	result := answering("a", resultText("see"), resultPicture("a.png"))
	result.GetParts()[0].GetToolResult().Files = []*compactordv1.FileTouch{{Path: "a.png"}}
	w := newLog(user("do"), assistant(calling("a", "shot", "")), result)
	prune(w, &compactordv1.Edit{Index: 2, Kind: compactordv1.EditKind_EDIT_KIND_REPLACE_MEDIA, Replacement: "[2.0 was a.png]"})
	require.Equal(t, `tool 2 replace_media: result a "see" "[2.0 was a.png]"`, viewLines(w)[2])
	require.Len(t, w.State().View(everyOption[0]).Messages[2].GetMessage().GetParts()[0].GetToolResult().GetFiles(), 1)
}

// One text replaces all media of a result, in the place of the first.
func TestSeveralMediaOfOneResultAreReplacedOnce(t *testing.T) {
	w := newLog(user("do"), assistant(calling("a", "shot", "")),
		answering("a", resultPicture("a.png"), resultText("see"), resultPicture("b.png")))
	prune(w, &compactordv1.Edit{
		Index: 2, Kind: compactordv1.EditKind_EDIT_KIND_REPLACE_MEDIA, Replacement: "[a.png]\n[b.png]",
	})
	require.Equal(t, `tool 2 replace_media: result a "[a.png]\n[b.png]" "see"`, viewLines(w)[2])
}
