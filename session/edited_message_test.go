package session_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/wording"
)

// The id made for a call names the part as the log has it, also where an edit drops a part before it.
func TestMadeIDHoldsWhereThinkingIsDropped(t *testing.T) {
	w := newLog(user("do"), assistant(thinking("hm"), calling("", "read", "")), answers("", "found"))
	prune(w, &compactordv1.Edit{Index: 1, Part: 0, Kind: compactordv1.EditKind_EDIT_KIND_DROP_THINKING})
	require.Equal(t, []string{
		`user 0: "do"`,
		`assistant 1 drop_thinking: call call_1_1 read()`,
		`tool 2: result call_1_1 "found"`,
	}, drawn(w))
}

// While a message is pinned no edit holds on it; Unpin puts them in force again.
func TestPinSuspendsEdits(t *testing.T) {
	w := newLog(user("do"), assistant(calling("a", "read", "")), answers("a", "found"))
	prune(w, &compactordv1.Edit{Index: 2, Kind: compactordv1.EditKind_EDIT_KIND_HIDE_RESULT, Replacement: "[hidden]"})
	require.Equal(t, `tool 2 hide_result: result a "[hidden]"`, drawn(w)[2])
	pin(w, 1)
	require.Equal(t, `tool 2: result a "found"`, drawn(w)[2])
	w.Write(&compactordv1.Record{Kind: &compactordv1.Record_Unpin{Unpin: &compactordv1.PinChange{
		Indexes: []uint32{1}, Members: []uint32{1, 2},
	}}})
	require.Equal(t, `tool 2 hide_result: result a "[hidden]"`, drawn(w)[2])
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
	}, drawn(w))
}

// What a collapsed group no longer shows cannot be pruned.
func TestCollapsedResultIsNotPrunable(t *testing.T) {
	w := newLog(user("do"), assistant(calling("a", "read", "")), answers("a", "12345678"), user("on"))
	require.Equal(t, uint32(2), w.Head.GetPrunableTokens())
	prune(w, collapse(1, ""))
	require.Zero(t, w.Head.GetPrunableTokens())
}

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

// Media among a result's parts are replaced by the edit's text, as the record says, and the rest of the result stays.
func TestMediaOfResultAreReplacedByTheText(t *testing.T) {
	result := answering("a", resultText("see"), resultPicture("a.png"))
	result.GetParts()[0].GetToolResult().Files = []*compactordv1.FileTouch{{Path: "a.png"}}
	w := newLog(user("do"), assistant(calling("a", "shot", "")), result)
	prune(w, &compactordv1.Edit{Index: 2, Kind: compactordv1.EditKind_EDIT_KIND_REPLACE_MEDIA, Replacement: "[2.0 was a.png]"})
	require.Equal(t, `tool 2 replace_media: result a "see" "[2.0 was a.png]"`, drawn(w)[2])
	require.Len(t, w.State().View(everyOption[0]).Messages[2].GetMessage().GetParts()[0].GetToolResult().GetFiles(), 1)
}

// Of several media of one result the text tells all, so it stands there once, in the place of the first.
func TestSeveralMediaOfOneResultAreToldOnce(t *testing.T) {
	w := newLog(user("do"), assistant(calling("a", "shot", "")),
		answering("a", resultPicture("a.png"), resultText("see"), resultPicture("b.png")))
	prune(w, &compactordv1.Edit{
		Index: 2, Kind: compactordv1.EditKind_EDIT_KIND_REPLACE_MEDIA, Replacement: "[a.png]\n[b.png]",
	})
	require.Equal(t, `tool 2 replace_media: result a "[a.png]\n[b.png]" "see"`, drawn(w)[2])
}
