package session_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
	"github.com/compactord/compactord/session/wording"
)

// A stray result that is hidden is still quoted, with its placeholder.
func TestCase200HiddenStrayResultIsQuoted(t *testing.T) {
	w := newLog(user("do"), answering("nobody", resultText("a very long answer"), resultPicture("plan.png")), user("more"))
	heading := wording.StrayResultHeading(&compactordv1.ToolResult{})
	require.Equal(t, `user stray_result 1.0: "`+heading+`" "a very long answer" media plan.png`, viewLines(w)[1])
	before := w.State().View(session.ViewOptions{})

	prune(w, &compactordv1.Edit{Index: 1, Kind: compactordv1.EditKind_EDIT_KIND_HIDE_RESULT, Replacement: "[hidden]"})
	require.Equal(t, []string{
		`user 0: "do"`, `user stray_result 1.0 hide_result: "` + heading + `" "[hidden]"`, `user 2: "more"`,
	}, viewLines(w))
	require.Less(t, w.State().View(session.ViewOptions{}).Tokens, before.Tokens)

	pin(w, 1)
	require.Contains(t, viewLines(w)[1], "a very long answer")
}

// No provider accepts a message between the results of one answer.
func TestStrayResultComesAfterTheAwaitedResults(t *testing.T) {
	heading := wording.StrayResultHeading(nil)
	twice := func(between ...*compactordv1.Message) *sessiontest.Writer {
		messages := append([]*compactordv1.Message{
			user("do"), assistant(calling("a", "bash", ""), calling("b", "bash", "")), answers("b", "1"),
		}, between...)
		return newLog(append(messages, answers("b", "again"), answers("a", "2"))...)
	}
	require.Equal(t, []string{
		`user 0: "do"`, `assistant 1: call a bash() call b bash()`, `tool 2: result b "1"`, `tool 4: result a "2"`,
		`user stray_result 3.0: "` + heading + `" "again"`,
	}, viewLines(twice()))
	requireModel(t, twice())

	pinned := twice(user("well?"))
	pinned.Append(says("done"), nil)
	pinned.Append(user("more"), nil)
	pin(pinned, 1)
	pin(pinned, 4)
	compact(pinned, 7, "s1")
	require.Equal(t, []string{
		`assistant 1 out of place: call a bash() call b bash()`, `tool 2 out of place: result b "1"`,
		`tool 5 out of place: result a "2"`, `user stray_result 4.0 out of place: "` + heading + `" "again"`, `user 7: "more"`,
	}, viewLines(pinned)[1:])
	requireModel(t, pinned)
}
