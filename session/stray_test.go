package session_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// A result that answers no call stays a quote when it is hidden, with the text that stands in for it.
func TestCase200HiddenStrayResultIsQuoted(t *testing.T) {
	w := newLog(user("do"), answering("nobody", resultText("a very long answer"), resultPicture("plan.png")), user("more"))
	heading := session.StrayResultHeading(&compactordv1.ToolResult{})
	require.Equal(t, `user stray_result 1.0: "`+heading+`" "a very long answer" media plan.png`, drawn(w)[1])
	before := w.State().View(session.ViewOptions{})

	prune(w, &compactordv1.Edit{Index: 1, Kind: compactordv1.EditKind_EDIT_KIND_HIDE_RESULT, Replacement: "[hidden]"})
	require.Equal(t, []string{
		`user 0: "do"`, `user stray_result 1.0 hide_result: "` + heading + `" "[hidden]"`, `user 2: "more"`,
	}, drawn(w))
	require.Less(t, w.State().View(session.ViewOptions{}).Tokens, before.Tokens)

	pin(w, 1)
	require.Contains(t, drawn(w)[1], "a very long answer")
}
