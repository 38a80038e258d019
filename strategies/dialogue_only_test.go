package strategies_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

func collapsingWithOutcome(outcomeChars uint32) *compactordv1.Strategy {
	return collapsing(&compactordv1.DialogueOnlyStrategy{OutcomeChars: proto.Uint32(outcomeChars)})
}

// finished returns a turn with everything that a turn can have, and the request after it.
func finished() *testLog {
	l := newLog().script("S20 U20")
	l.used("read", `{"path":"src/a.go","offset":10}`, piece("package a\n\nfunc A() {}\n"+textOf(500)))
	l.failed("bash", `{"command":"make\ntest"}`, "exit 2\n"+strings.Repeat("x", 300))
	l.used("grep", `{"pattern":"TODO","path":"src"}`)
	l.add(&compactordv1.Message{Role: compactordv1.Role_ROLE_ASSISTANT, Parts: []*compactordv1.Part{
		session.TextPart("Two more."),
		{Kind: &compactordv1.Part_ToolCall{ToolCall: &compactordv1.ToolCall{Id: "x", Name: "fetch", Arguments: `{"url":"https://h/p"}`}}},
		{Kind: &compactordv1.Part_ToolCall{ToolCall: &compactordv1.ToolCall{Id: "y", Name: "wait", Arguments: `{"seconds":9`}}},
	}})
	l.add(&compactordv1.Message{
		Role: compactordv1.Role_ROLE_TOOL, Parts: []*compactordv1.Part{resultPart("x", strings.Repeat("é", 230))},
	})
	return l.script("A20 U20")
}

// After collapsing, the view has neither tool messages nor placeholders of hidden or offloaded results.
func TestCase226CollapsedTurnsHaveNoToolMessages(t *testing.T) {
	t.Parallel()
	l := finished()
	// Some results were offloaded and hidden before.
	l.commit(planned(t, l, offloading(&compactordv1.OffloadStrategy{
		OverTokens: proto.Uint32(400), PartialReads: proto.Bool(true),
	})), "")
	l.commit(planned(t, l, hideTools(keepGroups(0))), "")
	require.Contains(t, shownAt(l, 3), "recall index 3, part 0")
	made := planned(t, l, collapsing(nil))
	requireConverged(t, l, made, collapsing(nil))

	v := l.state().View(session.ViewOptions{})
	require.Zero(t, v.ToolGroups)
	for _, vm := range v.Messages {
		require.NotEqual(t, compactordv1.Role_ROLE_TOOL, vm.GetMessage().GetRole())
		for _, p := range vm.GetMessage().GetParts() {
			require.Nil(t, p.GetToolCall())
			require.NotContains(t, p.GetText().GetText(), "recall index")
		}
	}
	require.Zero(t, l.head().GetPrunableTokens())
	// The log still has everything.
	require.Contains(t, recalled(t, l, "#3"), "func A() {}")
}

// The view of a turn has the agent's text, a list item for each call, and 200 characters of each result. Each message
// keeps its own text; the agent's last text comes last.
func TestCase227CollapsedTurnShowsTextCallsAndPreviews(t *testing.T) {
	t.Parallel()
	l := finished()
	l.commit(planned(t, l, collapsingWithOutcome(200)), "")
	var said []string
	for _, vm := range l.state().View(session.ViewOptions{}).Messages {
		if vm.GetMessage().GetRole() != compactordv1.Role_ROLE_ASSISTANT {
			continue
		}
		for _, p := range vm.GetMessage().GetParts() {
			said = append(said, p.GetText().GetText())
		}
	}
	preview := "package a func A() {} " + textOf(500)
	require.Equal(t, []string{
		"- read src/a.go → " + preview[:200] + "… [#3]",
		"- bash make test → error: exit 2 " + strings.Repeat("x", 193) + "… [#5]",
		"- grep TODO → no output [#7]",
		"Two more.",
		"- fetch https://h/p → " + strings.Repeat("é", 200) + "… [#9]\n- wait → no result",
		textOf(20),
	}, said)
}

// The current turn stays whole, and so do the finished turns that are to be kept.
func TestDialogueOnlyCollapsesFinishedTurns(t *testing.T) {
	t.Parallel()
	l := newLog().script("U T20:a R90:a A U T20:a R90:a C T20:a R90:a A U T20:a R90:a")
	for keep, want := range map[uint32][]uint32{0: {1, 5, 8}, 1: {1}, 2: nil, 10_000: nil} {
		made := planned(t, l, collapsing(&compactordv1.DialogueOnlyStrategy{KeepTurns: proto.Uint32(keep)}))
		require.Equal(t, want, indexesOf(made), "keep %d", keep)
	}
	require.Equal(t, nothing, planned(t, newLog().script("T20:a R90:a A"), collapsing(nil)).GetSkipReason(), "no turn has begun")
	// A turn of which a summary covers the first part is finished, too.
	l = newLog().script("U A T20:a R90:a A U")
	l.commit(&plan{Cut: &compactordv1.Cut{FirstKeptIndex: 2}}, "short")
	require.Equal(t, []uint32{2}, indexesOf(planned(t, l, collapsing(nil))))
}

func TestDialogueOnlyLeavesPinnedGroupsWhole(t *testing.T) {
	t.Parallel()
	l := newLog().script("U T20:a,b R90:a R90:b T20:a R90:a A U")
	l.pin(3)
	require.Equal(t, []uint32{4}, indexesOf(planned(t, l, collapsing(nil))))
}

func TestDialogueOnlyWithoutDigest(t *testing.T) {
	t.Parallel()
	parameters := collapsing(&compactordv1.DialogueOnlyStrategy{ToolDigest: compactordv1.ToolDigest_TOOL_DIGEST_NOTHING.Enum()})
	l := finished()
	made := planned(t, l, parameters)
	for _, e := range made.GetEdits() {
		require.Empty(t, e.GetReplacement())
	}
	require.Len(t, made.GetEdits(), 4)
	requireConverged(t, l, made, parameters)
	var shown []uint32
	for _, vm := range l.state().View(session.ViewOptions{}).Messages {
		shown = append(shown, vm.GetIndex())
	}
	require.Equal(t, []uint32{0, 1, 8, 10, 11}, shown, "messages of which nothing is left are not shown")

	// The first message after a summary is not left empty, since the one after it may not be a valid first one.
	l = newLog().script("U A T20:a R90:a A U")
	l.commit(&plan{Cut: &compactordv1.Cut{FirstKeptIndex: 2}}, "short")
	require.Equal(t, map[uint32]string{2: "- bash → " + textOf(30) + "… [#3]"}, replacements(planned(t, l, parameters)))
}

// If a line for each call is not shorter than the group, the digest says less.
func TestDigestIsShorterThanWhatItStandsFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ arguments, result, want string }{
		{`{"path":"a"}`, strings.Repeat("x", 140), "- read a → " + strings.Repeat("x", 120) + "… [#2]"},
		{`{"path":"abcdefghijkl"}`, "0123456789", "- read abcdefghijkl → 0123456789"},
		{`{"path":"abcdefghijklmnop"}`, "ok", "- read abcdefghijklmnop → ok"},
		{`{"k":"abcdef"}`, "", "- read abcdef"},
		{`{}`, "ok12", "- read"},
	} {
		l := newLog().script("U")
		l.used("read", c.arguments, piece(c.result))
		l.script("U")
		require.Equal(t, map[uint32]string{1: c.want}, replacements(planned(t, l, collapsing(nil))), c.arguments)
	}
}

// Whatever models write and tools return, each call has a line, and the digest is shorter than the group.
func FuzzDigest(f *testing.F) {
	f.Add("bash", `{"command":"ls\nls"}`, "a\r\nb", false, uint16(10))
	f.Add("{tool}\n", `{"path":"\u2028"}`, strings.Repeat("é", 500), true, uint16(2000))
	f.Add("", `[`, "", true, uint16(0))
	f.Fuzz(func(t *testing.T, tool, arguments, text string, failed bool, characters uint16) {
		tool, arguments, text = strings.ToValidUTF8(tool, "?"), strings.ToValidUTF8(arguments, "?"), strings.ToValidUTF8(text, "?")
		l := newLog().script("U")
		if failed {
			l.failed(tool, arguments, text)
		} else {
			l.used(tool, arguments, piece(text))
		}
		l.script("U")
		made := planned(t, l, collapsingWithOutcome(uint32(characters%2001)))
		for _, e := range made.GetEdits() {
			require.NotContains(t, e.GetReplacement(), "\n")
			require.True(t, utf8.ValidString(e.GetReplacement()))
			require.LessOrEqual(t, utf8.RuneCountInString(e.GetReplacement()), 300+int(characters%2001))
			require.NotZero(t, e.GetTokensFreed())
		}
	})
}
