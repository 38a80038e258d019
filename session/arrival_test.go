package session_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// shortened is an arrival edit of a result of 10 tokens that leaves 2.
func shortened() *compactordv1.Edit {
	return &compactordv1.Edit{
		Kind:        compactordv1.EditKind_EDIT_KIND_TRUNCATE_RESULT,
		Replacement: "12345678", TokensFreed: 8,
	}
}

const tenTokens = "1234567890123456789012345678901234567890"

// A result with an arrival edit is shown with it from the first view on, with its role and its call.
func TestViewsShowResultsAsEditedOnArrival(t *testing.T) {
	w := newLog(user("u"), assistant(calling("a", "read", "{}")))
	w.AppendEdited(answers("a", tenTokens), shortened())
	require.Equal(t, []string{
		`user 0: "u"`, `assistant 1: call a read({})`, `tool 2 truncate_result: result a "12345678"`,
	}, viewLines(w))
	require.Equal(t, uint32(1+2+2), w.Head.GetViewTokens())
	require.Equal(t, uint32(2), w.Head.GetPrunableTokens(), "what is left can still be hidden")
	require.Equal(t, uint32(10), w.Messages[2].GetTokens(), "the message is whole")
	require.Equal(t, w.Head.GetTailTokens(), uint32(2+2))
}

// Tokens that no view has shown do not count as appended for the pause and the breaker.
func TestAppendedTokensAreThoseThatViewsShow(t *testing.T) {
	w := newLog(user("u"), assistant(calling("a", "read", "{}"), calling("b", "read", "{}")))
	before := w.Head.GetAppendedTokens()
	w.AppendEdited(answers("a", tenTokens), shortened())
	require.Equal(t, before+2, w.Head.GetAppendedTokens())
	compact(w, 1, "s")
	require.Equal(t, before+2, w.Head.GetRewrittenAtTokens())
	pin(w, 1)
	w.AppendEdited(answers("b", tenTokens), shortened())
	require.Equal(t, before+2+10, w.Head.GetAppendedTokens(), "in a pinned group it is shown whole")
}

// A pin shows a whole result despite its arrival edit; an unpin applies the edit again.
func TestPinsShowWholeWhatWasEditedOnArrival(t *testing.T) {
	w := newLog(user("u"), assistant(calling("a", "read", "{}")))
	w.AppendEdited(answers("a", tenTokens), shortened())
	edited := viewLines(w)
	pin(w, 2)
	require.Equal(t, `tool 2: result a "`+tenTokens+`"`, viewLines(w)[2])
	require.Equal(t, uint32(1+2+10), w.Head.GetViewTokens())
	unpin(w, 2)
	require.Equal(t, edited, viewLines(w))
	require.Equal(t, uint32(1+2+2), w.Head.GetViewTokens())
}

// A result that joins a pinned group is shown whole from the first view on.
func TestResultsOfPinnedGroupsArriveWhole(t *testing.T) {
	w := newLog(user("u"), assistant(calling("a", "read", "{}")))
	pin(w, 1)
	w.AppendEdited(answers("a", tenTokens), shortened())
	require.Equal(t, `tool 2: result a "`+tenTokens+`"`, viewLines(w)[2])
	require.Equal(t, uint32(1+2+10), w.Head.GetViewTokens())
	require.Equal(t, uint32(2+10), w.Head.GetPinnedTailTokens())
}

// Each way in which an arrival edit can be invalid.
func TestInvalidArrivalEdits(t *testing.T) {
	counter, err := session.CounterFor(compactordv1.Estimator_ESTIMATOR_CHARS4)
	require.NoError(t, err)
	w := newLog(user("u"), assistant(calling("a", "read", "{}")))
	sound := w.AppendEdited(answers("a", tenTokens), shortened())
	require.NoError(t, session.CheckArrivalEdits(counter, sound))
	for what, spoil := range map[string]func(*compactordv1.LoggedMessage){
		"not the tokens freed": func(l *compactordv1.LoggedMessage) { l.ArrivalEdits[0].TokensFreed++ },
		"not shorter":          func(l *compactordv1.LoggedMessage) { l.ArrivalEdits[0].Replacement = tenTokens },
		"nothing":              func(l *compactordv1.LoggedMessage) { l.ArrivalEdits[0].Replacement = "" },
		"another part":         func(l *compactordv1.LoggedMessage) { l.ArrivalEdits[0].Part = math.MaxUint32 },
		"two":                  func(l *compactordv1.LoggedMessage) { l.ArrivalEdits = append(l.ArrivalEdits, shortened()) },
		"another message":      func(l *compactordv1.LoggedMessage) { l.ArrivalEdits[0].Index-- },
		"by a summarizer":      func(l *compactordv1.LoggedMessage) { l.ArrivalEdits[0].BySummarizer = true },
		"no kind":              func(l *compactordv1.LoggedMessage) { l.ArrivalEdits[0].Kind = 0 },
		"an unknown kind":      func(l *compactordv1.LoggedMessage) { l.ArrivalEdits[0].Kind = 9 },
		"a kind of records": func(l *compactordv1.LoggedMessage) {
			l.ArrivalEdits[0].Kind = compactordv1.EditKind_EDIT_KIND_HIDE_RESULT
		},
		"a stray": func(l *compactordv1.LoggedMessage) {
			l.ResultPlace = compactordv1.ResultPlace_RESULT_PLACE_STRAY
		},
	} {
		l := proto.CloneOf(sound)
		spoil(l)
		require.ErrorIs(t, session.CheckArrivalEdits(counter, l), session.ErrArrivalEdit, what)
	}
}
