package session_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
)

// What is known of a message is read once, but not taken for that of another message with its index.
func TestKnownFactsAreThoseOfTheMessage(t *testing.T) {
	t.Parallel()
	var known session.Known
	reads := 0
	role := func(l *compactordv1.LoggedMessage) any {
		reads++
		return l.GetMessage().GetRole()
	}
	first := &compactordv1.LoggedMessage{Index: 1, Message: user("go")}
	second := &compactordv1.LoggedMessage{Index: 1, Message: assistant()}
	for range 2 {
		require.Equal(t, compactordv1.Role_ROLE_USER, known.Facts(first, role))
	}
	require.Equal(t, 1, reads)
	require.Equal(t, compactordv1.Role_ROLE_ASSISTANT, known.Facts(second, role))
	require.Equal(t, compactordv1.Role_ROLE_USER, known.Facts(first, role))
}

// A message that an outline replaces is held no longer.
func TestKnownForgetsWhatAnOutlineReplaces(t *testing.T) {
	t.Parallel()
	w := newLog(user("go"))
	before := sessiontest.Outlined(w.State())
	w.Append(user(strings.Repeat("x", 1000)), nil)
	grown := before.WithAppended(w.Head, w.Messages[1:])
	reads := 0
	read := func(*compactordv1.LoggedMessage) any { reads++; return reads }
	whole := grown.Kept[1]
	require.Equal(t, 1, grown.Known.Facts(whole, read))
	outlined := grown.Outlined(sessiontest.Outlined(w.State()).Outlines.Contents)
	require.NotSame(t, whole, outlined.Kept[1])
	require.Equal(t, 2, grown.Known.Facts(whole, read), "it was still held")
}

// What views show of an edited message is drawn once for edits that say the same, of whatever plan they are.
func TestKnownDrawingsAreThoseOfTheEdits(t *testing.T) {
	t.Parallel()
	w := newLog(user("go"), assistant(calling("c", "read", "{}")), &compactordv1.Message{
		Role: compactordv1.Role_ROLE_TOOL,
		Parts: []*compactordv1.Part{{Kind: &compactordv1.Part_ToolResult{ToolResult: &compactordv1.ToolResult{
			CallId: "c", Parts: []*compactordv1.ResultPart{resultText(strings.Repeat("x", 1000))},
		}}}},
	})
	hide := func(replacement string) *session.View {
		s := w.State()
		s.Edits = map[uint32][]*compactordv1.Edit{2: {{
			Index: 2, Kind: compactordv1.EditKind_EDIT_KIND_HIDE_RESULT, Replacement: replacement,
		}}}
		return s.View(session.ViewOptions{})
	}
	first, again := hide("gone"), hide("gone")
	other := hide("left out")
	require.Same(t, first.Messages[2], again.Messages[2])
	require.NotSame(t, first.Messages[2], other.Messages[2])
	shown := func(v *session.View) string {
		return v.Messages[2].GetMessage().GetParts()[0].GetToolResult().GetParts()[0].GetText().GetText()
	}
	require.Equal(t, "gone", shown(again))
	require.Equal(t, "left out", shown(other))
}
