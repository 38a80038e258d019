package session_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/wording"
)

func TestCase123NoCompaction(t *testing.T) {
	w := newLog(system("s"), user("u1"), says("a1"))
	require.Equal(t, []string{`system 0: "s"`, `user 1: "u1"`, `assistant 2: "a1"`}, viewLines(w))
}

func TestCase124OneCompaction(t *testing.T) {
	w := newLog(system("s"), user("u1"), says("a1"), user("u2"), says("a2"))
	compact(w, 3, "what was")
	w.Append(user("u3"), nil)
	lines := viewLines(w)
	require.Len(t, lines, 5)
	require.Equal(t, `system 0: "s"`, lines[0])
	require.Contains(t, lines[1], "summary of entry-6")
	require.Contains(t, lines[1], "what was")
	require.Equal(t, []string{`user 3: "u2"`, `assistant 4: "a2"`, `user 5: "u3"`}, lines[2:])
}

func TestCase125OnlyTheLatestSummary(t *testing.T) {
	w := newLog(user("u1"), says("a1"), user("u2"), says("a2"), user("u3"))
	compact(w, 2, "first")
	compact(w, 3, "second")
	lines := viewLines(w)
	require.Len(t, lines, 3)
	require.Contains(t, lines[0], "second")
	require.NotContains(t, lines[0], "first")
	require.Equal(t, []string{`assistant 3: "a2"`, `user 4: "u3"`}, lines[1:])
}

func TestCase126EverythingKept(t *testing.T) {
	w := newLog(user("u1"), says("a1"))
	compact(w, 0, "nothing before")
	lines := viewLines(w)
	require.Contains(t, lines[0], "nothing before")
	require.Equal(t, []string{`user 0: "u1"`, `assistant 1: "a1"`}, lines[1:])
}

// A compaction of one history is not seen in another, and is in effect again after a return to its history.
func TestCase128CompactionOfAnotherHistory(t *testing.T) {
	w := newLog(user("u1"), says("a1"), user("u2"))
	compact(w, 2, "s")
	compacted := viewLines(w)
	before := session.Point(w.Head)
	revert(w, 3)
	require.Equal(t, []string{`user 0: "u1"`, `assistant 1: "a1"`, `user 2: "u2"`}, viewLines(w))
	revert(w, before)
	require.Equal(t, compacted, viewLines(w))
}

func TestCase130SummaryIsTheUsers(t *testing.T) {
	w := newLog(user("u1"), says("a1"), user("u2"), says("a2"))
	introduction := func(firstKept uint32, summary string) string {
		compact(w, firstKept, summary)
		m := w.State().View(session.ViewOptions{}).Messages[0].GetMessage()
		require.Equal(t, compactordv1.Role_ROLE_USER, m.GetRole())
		before, wrapped, found := strings.Cut(m.GetParts()[0].GetText().GetText(), "<summary>\n")
		require.True(t, found)
		require.True(t, strings.HasPrefix(wrapped, summary+"\n</summary>"), wrapped)
		return before
	}
	first := introduction(2, "s")
	require.NotEmpty(t, strings.TrimSpace(first))
	require.Equal(t, first, introduction(3, "another"), "it is the same for each summary")
}

func TestCase130OtherPlacements(t *testing.T) {
	w := newLog(user("u1"), says("a1"), user("u2"), says("a2"))
	compact(w, 2, "s")
	roles := func(p compactordv1.SummaryPlacement) []compactordv1.Role {
		setPolicy(w, &compactordv1.Policy{Summary: &compactordv1.SummaryPolicy{Placement: &p}})
		var found []compactordv1.Role
		for _, vm := range w.State().View(session.ViewOptions{}).Messages {
			if vm.GetSummaryOf() != "" {
				found = append(found, vm.GetMessage().GetRole())
			}
		}
		return found
	}
	u, a := compactordv1.Role_ROLE_USER, compactordv1.Role_ROLE_ASSISTANT
	require.Equal(t, []compactordv1.Role{u}, roles(compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_USER))
	require.Equal(t, []compactordv1.Role{compactordv1.Role_ROLE_SYSTEM},
		roles(compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_SYSTEM))
	require.Equal(t, []compactordv1.Role{u, a}, roles(compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_PAIR))
	compact(w, 3, "s2")
	require.Equal(t, []compactordv1.Role{u}, roles(compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_PAIR),
		"the kept part begins with ASSISTANT")
}

func TestCase131NeverBeginsWithAResult(t *testing.T) {
	w := newLog(user("u1"), assistant(calling("a", "read", "")), answers("a", "r"), developer("d"), says("a2"))
	s := w.State()
	var places []uint32
	for _, pos := range s.CutPlaces() {
		places = append(places, s.Kept[pos].GetIndex())
	}
	require.Equal(t, []uint32{0, 1, 4}, places, "neither before the result nor before the developer's message")
	for _, firstKept := range places {
		w := newLog(user("u1"), assistant(calling("a", "read", "")), answers("a", "r"), developer("d"), says("a2"))
		compact(w, firstKept, "s")
		view := w.State().View(session.ViewOptions{}).Messages
		require.NotEmpty(t, view[0].GetSummaryOf())
		require.Equal(t, firstKept, view[1].GetIndex())
		require.NotEqual(t, compactordv1.Role_ROLE_TOOL, view[1].GetMessage().GetRole())
	}
}

// A call without a result gets a stand-in once something was said after it; until then it is shown as it is.
func TestCase132UnansweredCall(t *testing.T) {
	w := newLog(user("u1"), assistant(calling("a", "read", ""), calling("b", "bash", "")), answers("b", "r"))
	require.Len(t, viewLines(w), 3)
	require.Len(t, session.Awaited(w.Head), 1)
	w.Append(user("u2"), nil)
	require.Equal(t, `tool missing_result 1.0: result a error "`+wording.MissingResult+`"`, viewLines(w)[3])
	require.Equal(t, `user 3: "u2"`, viewLines(w)[4])
	require.Empty(t, session.Awaited(w.Head))

	w = newLog(user("u1"), assistant(calling("a", "read", ""), calling("b", "bash", "")), answers("b", "r"), says("a2"))
	require.Equal(t, []string{
		`tool 2: result b "r"`, `tool missing_result 1.0: result a error "` + wording.MissingResult + `"`, `assistant 3: "a2"`,
	}, viewLines(w)[2:], "the model has gone on without it")
}

func TestCase133FailedIsNotSent(t *testing.T) {
	for _, why := range []compactordv1.StopReason{
		compactordv1.StopReason_STOP_REASON_ERROR, compactordv1.StopReason_STOP_REASON_ABORTED,
	} {
		w := newLog(user("u1"), stopped(assistant(calling("a", "read", "")), why), answers("a", "r"), user("u2"))
		require.Equal(t, []string{`user 0: "u1"`, `user 3: "u2"`}, viewLines(w))
	}
}

// An empty message is in the log, so it is in the view; nothing that is not in the log is added.
func TestCase134EmptyMessage(t *testing.T) {
	w := newLog(user("u1"), assistant())
	require.Equal(t, []string{`user 0: "u1"`, `assistant 1:`}, viewLines(w))
	revert(w, 1)
	require.Equal(t, []string{`user 0: "u1"`}, viewLines(w), "a return to an earlier point adds nothing")
}

// Indexes stay the same: after everything is read again from disk, a second compaction cuts at the index that it names.
func TestCase140IndexesDoNotDrift(t *testing.T) {
	w := newLog(user("u1"), says("a1"), user("u2"), says("a2"), user("u3"))
	compact(w, 2, "first")
	s := w.StateAt(w.Log.Newest())
	require.Equal(t, uint32(2), s.Kept[0].GetIndex())
	compact(w, 4, "second")
	require.Equal(t, []string{`user 4: "u3"`}, viewLines(w)[1:])
}

func TestCase141RevertBeforeCompaction(t *testing.T) {
	w := newLog(user("u1"), says("a1"), user("u2"), says("a2"))
	revert(w, 2)
	w.Append(user("u3"), nil)
	w.Append(says("a3"), nil)
	compact(w, 1, "first")
	require.Equal(t, []string{`assistant 1: "a1"`, `user 4: "u3"`, `assistant 5: "a3"`}, viewLines(w)[1:],
		"what was put aside does not come back")

	first := session.Point(w.Head)
	compact(w, 5, "second")
	revert(w, first)
	w.Append(user("u4"), nil)
	lines := viewLines(w)
	require.Contains(t, lines[0], "first", "the second was put aside")
	require.Equal(t, []string{`assistant 1: "a1"`, `user 4: "u3"`, `assistant 5: "a3"`, `user 6: "u4"`}, lines[1:])
	requireModel(t, w)
}

func TestCase142KeptAsTheyAre(t *testing.T) {
	signed := thinking("hm")
	signed.Attachments = []*compactordv1.Attachment{{
		Dialect: compactordv1.Dialect_DIALECT_ANTHROPIC, Key: "signature", Json: `"x"`,
	}}
	w := newLog(user("u1"), says("a1"), message(compactordv1.Role_ROLE_USER, pictured("a.png")),
		assistant(signed, calling("toolu_1", "read", `{"n": 1.0}`)), answers("toolu_1", "r"))
	compact(w, 2, "s")
	keepAll := session.ViewOptions{Thinking: compactordv1.ThinkingPolicy_THINKING_POLICY_KEEP_ALL}
	shown := w.State().View(keepAll).Messages[1:]
	for i, vm := range shown {
		require.True(t, proto.Equal(w.Messages[2+i].GetMessage(), vm.GetMessage()))
	}
	require.Len(t, shown, 3)

	// The signature covers the content before it, which has changed. By default the thinking is left out, and nothing
	// else.
	shown = w.State().View(session.ViewOptions{}).Messages[1:]
	require.Len(t, shown, 3)
	for i, vm := range shown {
		want := proto.CloneOf(w.Messages[2+i].GetMessage())
		if i == 1 {
			want.Parts = want.GetParts()[1:]
		}
		require.True(t, proto.Equal(want, vm.GetMessage()), "%v", vm)
	}
}
