package session_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
	"github.com/compactord/compactord/session/wording"
)

// saidWhile returns the messages that can come while a tool runs: from a user, an agent program or an operator.
func saidWhile() map[string]*compactordv1.Message {
	added := user("Mind the time.")
	added.Origin = compactordv1.Origin_ORIGIN_CONTINUE
	return map[string]*compactordv1.Message{
		"typed by the user": user("Mind the time."), "added by the harness": added,
		"of the developer": developer("Mind the time."), "of the system": system("Mind the time."),
	}
}

func TestMessageSaidWhileAToolRunsFalsifiesNothing(t *testing.T) {
	for name, said := range saidWhile() {
		t.Run(name, func(t *testing.T) {
			w := newLog(user("Go."), assistant(calling("a", "bash", "")), said)
			before := viewLines(w)
			require.Contains(t, before[2], "missing_result 1.0", "a model that is asked now goes on without the result")
			require.Contains(t, before[3], "Mind the time.")
			require.Empty(t, session.Awaited(w.Head))

			w.Append(answers("a", "all tests pass"), nil)
			after := viewLines(w)
			require.Equal(t, before[:2], after[:2])
			require.Equal(t, `tool 3: result a "all tests pass"`, after[2])
			require.Equal(t, before[3], after[3])
			require.Len(t, after, 4)
			requireModel(t, w)

			w.Append(says("They pass."), nil)
			require.Equal(t, append(after, `assistant 4: "They pass."`), viewLines(w))
			requireModel(t, w)
		})
	}
}

func TestCase197ResultsFindTheirCallsWhateverIsSaidBetween(t *testing.T) {
	w := newLog(user("Go."), assistant(calling("a", "bash", ""), calling("b", "bash", ""), calling("c", "bash", "")),
		answers("b", "1"), user("Well?"), answers("c", "2"), developer("Be brief."), user("Still there?"), answers("a", "3"))
	require.Equal(t, []string{
		`user 0: "Go."`, `assistant 1: call a bash() call b bash() call c bash()`,
		`tool 2: result b "1"`, `tool 4: result c "2"`, `tool 7: result a "3"`,
		`user 3: "Well?"`, `developer 5: "Be brief."`, `user 6: "Still there?"`,
	}, viewLines(w))
	requireModel(t, w)
}

// A call is given up for ever only when the model answers.
func TestCallIsGivenUpOnlyWhenTheModelAnswers(t *testing.T) {
	w := newLog(user("Go."), assistant(calling("a", "bash", "")), user("Well?"),
		stopped(says("overloaded"), compactordv1.StopReason_STOP_REASON_ERROR))
	require.Len(t, w.Head.GetOpenCalls(), 1, "an answer that failed says nothing")
	w.Append(says("I cannot wait."), nil)
	require.Empty(t, w.Head.GetOpenCalls())
	w.Append(answers("a", "done"), nil)
	require.Equal(t, []string{
		`user 0: "Go."`, `assistant 1: call a bash()`,
		`tool missing_result 1.0: result a error "` + wording.MissingResult + `"`,
		`user 2: "Well?"`, `assistant 4: "I cannot wait."`,
		`user stray_result 5.0: "` + wording.StrayResultHeading(nil) + `" "done"`,
	}, viewLines(w))
	requireModel(t, w)
}

// The results of an answer that failed are left out, also where something was said before they came.
func TestResultOfAFailedAnswerIsLeftOutAfterAMessage(t *testing.T) {
	w := newLog(user("Go."), stopped(assistant(calling("a", "bash", "")), compactordv1.StopReason_STOP_REASON_ABORTED),
		user("Stop."), answers("a", "done"), says("Stopped."))
	require.Equal(t, []string{`user 0: "Go."`, `user 2: "Stop."`, `assistant 4: "Stopped."`}, viewLines(w))
	requireModel(t, w)
}

// No cut separates a call from a result that may still come, or what was said meanwhile from either of them.
func TestNoCutBetweenACallAndItsLateResult(t *testing.T) {
	places := func(w *sessiontest.Writer) []uint32 {
		s := w.State()
		var indexes []uint32
		for _, pos := range s.CutPlaces() {
			indexes = append(indexes, s.Kept[pos].GetIndex())
		}
		return indexes
	}
	w := newLog(user("Go."), assistant(calling("a", "bash", "")), user("Well?"))
	require.Equal(t, []uint32{0, 1}, places(w))
	w.Append(answers("a", "done"), nil)
	require.Equal(t, []uint32{0, 1}, places(w))
	w.Append(user("And?"), nil)
	require.Equal(t, []uint32{0, 1, 4}, places(w))

	given := newLog(user("Go."), assistant(calling("a", "bash", "")), user("Well?"), says("I go on."))
	require.Equal(t, []uint32{0, 1, 2, 3}, places(given), "the model has gone on, so nothing waits any more")
}

// A pinned group that a summary covers shows its late result next to the call, too.
func TestLateResultOfAPinnedGroupIsBesideItsCall(t *testing.T) {
	w := newLog(user("Go."), assistant(calling("a", "bash", "")), user("Well?"), answers("a", "done"), says("Done."), user("More."),
		says("Sure."))
	pin(w, 1)
	pin(w, 2)
	compact(w, 5, "s1")
	require.Equal(t, []string{`assistant 1 out of place: call a bash()`, `tool 3 out of place: result a "done"`, `user 2 out of place: "Well?"`},
		viewLines(w)[1:4])
	requireModel(t, w)
}

// Thinking depends on what the model saw: where it saw the missing result, a late result makes the thinking invalid.
func TestThinkingOfAModelThatWasAskedBeforeALateResultIsDropped(t *testing.T) {
	shown := func(stale bool) string {
		w := newLog(user("Go."), assistant(thinking("hm"), calling("a", "bash", "")), user("Well?"))
		asked := session.Point(w.Head)
		w.Append(answers("a", "done"), nil)
		answer := assistant(thinking("so it is"), session.TextPart("Done."))
		if stale {
			w.Append(answer, &asked)
		} else {
			w.Append(answer, nil)
		}
		requireModel(t, w)
		require.Contains(t, viewLines(w)[1], "hm", "the call came before what changed")
		return viewLines(w)[4]
	}
	require.Contains(t, shown(false), "so it is")
	require.NotContains(t, shown(true), "so it is")
}

// A client that holds the view with the missing result gets the view from there on.
func TestTokenOfAViewBeforeALateResultSeesTheChange(t *testing.T) {
	w := newLog(user("Go."), assistant(calling("a", "bash", "")), user("Well?"))
	token := session.ViewToken{UID: "u", Point: session.Point(w.Head), NextIndex: w.Head.GetNextIndex()}
	require.Equal(t, session.DeltaAppended, token.Compare(w.Head, "u", token.Options))
	w.Append(answers("a", "done"), nil)
	require.Equal(t, session.DeltaChanged, token.Compare(w.Head, "u", token.Options))
	token.Point = session.Point(w.Head)
	w.Append(says("Done."), nil)
	require.Equal(t, session.DeltaAppended, token.Compare(w.Head, "u", token.Options))
}
