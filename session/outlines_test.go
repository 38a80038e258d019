package session_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
)

// All that is computed of a state of outlines is the same as of the whole state: figures, groups, places for cuts, and
// what records change.
func TestOutlinesHaveTheFiguresOfTheMessages(t *testing.T) {
	shortened, changes := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		g := sessiontest.NewGenerator(t, make(sessiontest.Counts))
		g.W.Wrote = func(given *compactordv1.Record, at *storagev1.Head, written *session.Written) {
			outlined, err := session.Write(sessiontest.OutlinedWith(g.W.State(), noFacts), given, at,
				func(h *storagev1.Head) (*session.State, error) {
					return sessiontest.OutlinedWith(g.W.StateOf(h), noFacts), nil
				})
			require.NoError(t, err)
			require.True(t, proto.Equal(written.Record, outlined.Record), "%v\nnot\n%v", outlined.Record, written.Record)
			require.True(t, proto.Equal(written.State.Head, outlined.State.Head))
			changes++
		}
		for range sessiontest.Steps(t, 60) {
			g.Step(t)
			whole := g.W.State()
			outlined := sessiontest.OutlinedWith(whole, noFacts)
			require.True(t, proto.Equal(whole.WithMetrics(), outlined.WithMetrics()))
			require.Equal(t, whole.Groups(), outlined.Groups())
			require.Equal(t, whole.CutPlaces(), outlined.CutPlaces())
			all := slices.Concat(whole.Lead, whole.OutOfPlace, whole.Kept)
			for i, l := range slices.Concat(outlined.Lead, outlined.OutOfPlace, outlined.Kept) {
				if l != all[i] {
					shortened++
				}
				require.Equal(t, proto.Size(all[i]), proto.Size(l))
				again, err := outlined.Whole(t.Context(), l)
				require.NoError(t, err)
				require.Same(t, all[i], again)
			}
		}
	})
	require.Positive(t, shortened, "no message was shortened")
	require.Positive(t, changes, "no record was written")
}

// A view of a state that was read up to a message shows what is before it as the view of the whole state does, and has the
// same bytes.
func TestContentsBefore(t *testing.T) {
	read, left := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		g := sessiontest.NewGenerator(t, make(sessiontest.Counts))
		for range sessiontest.Steps(t, 60) {
			g.Step(t)
			whole := g.W.State()
			end := rapid.Uint32Range(0, whole.Head.GetNextIndex()).Draw(t, "end")
			state, err := sessiontest.OutlinedWith(whole, noFacts).WithContentsBefore(t.Context(), end)
			require.NoError(t, err)
			require.Nil(t, state.Known)
			want, got := whole.View(session.ViewOptions{}), state.View(session.ViewOptions{})
			require.Equal(t, want.Bytes, got.Bytes)
			require.Len(t, got.Messages, len(want.Messages))
			for i, vm := range want.Messages {
				switch at, logged := vm.GetOrigin().(*compactordv1.ViewMessage_Index); {
				case logged && at.Index < end:
					require.True(t, proto.Equal(vm, got.Messages[i]), "%v\nnot\n%v", got.Messages[i], vm)
					read++
				case logged && !proto.Equal(vm, got.Messages[i]):
					left++
				}
			}
		}
	})
	require.Positive(t, read, "nothing was read")
	require.Positive(t, left, "all was read")
}

// noFacts is for states that nobody plans on.
func noFacts(*compactordv1.LoggedMessage) (facts any, bytes int) { return struct{}{}, 0 }

// A state that was appended to has outlines of all messages again, like one that is made anew.
func TestOutlinesOfWhatWasAppended(t *testing.T) {
	t.Parallel()
	w := newLog(user("go"), assistant(calling("a", "read", "{}")), answers("a", strings.Repeat("x", 1000)))
	before := sessiontest.Outlined(w.State())
	for _, m := range []*compactordv1.Message{assistant(calling("b", "read", "{}")), answers("b", strings.Repeat("y", 1000))} {
		w.Append(m, nil)
	}
	want := sessiontest.Outlined(w.State())
	got := before.WithAppended(w.Head, w.Messages[3:]).Outlined(want.Outlines.Contents)
	require.Same(t, before.Kept[2], got.Kept[2])
	require.Len(t, got.Kept, len(want.Kept))
	bytes := 0
	for i, l := range got.Kept {
		require.True(t, proto.Equal(want.Kept[i], l))
		whole, err := got.Whole(t.Context(), l)
		require.NoError(t, err)
		require.Same(t, w.Messages[i], whole)
		bytes += got.Outlines.Bytes(l)
	}
	require.Less(t, bytes, 1000, "fillers are shared")
	require.GreaterOrEqual(t, got.Outlines.SharedBytes(), 1000)
}

// An outline has all of a message but the large texts of a result.
func TestOutline(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("é", 50)
	w := newLog(user("go"), assistant(calling("a", "read", "{}")), answers("a", large))
	l := w.Messages[2]
	before := proto.CloneOf(l)
	for least, shortens := range map[int]bool{1: true, 100: true, 101: false} {
		o := &session.Outlines{Least: least}
		outline := o.Of(l)
		require.Equal(t, shortens, outline != l)
		require.True(t, proto.Equal(before, l), "the message was changed")
		if !shortens {
			continue
		}
		text := outline.GetMessage().GetParts()[0].GetToolResult().GetParts()[0].GetText()
		require.Len(t, text.GetText(), 100)
		require.NotContains(t, text.GetText(), "é")
		text.Text = large
		require.True(t, proto.Equal(before, outline), "an outline lacks a field")
	}
}

// Large thinking is left out as well, and a call beside it is whole.
func TestOutlineOfThinking(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("é", 50)
	w := newLog(user("go"), assistant(thinking(large), calling("a", "read", `{"path":"a.go"}`)), answers("a", "ok"))
	l := w.Messages[1]
	before := proto.CloneOf(l)
	for least, shortens := range map[int]bool{1: true, 100: true, 101: false} {
		o := &session.Outlines{Least: least, To: 3}
		outline := o.Of(l)
		require.Equal(t, shortens, outline != l)
		require.True(t, proto.Equal(before, l), "the message was changed")
		if !shortens {
			continue
		}
		require.Equal(t, proto.Size(l)-100, o.Bytes(l))
		left := outline.GetMessage().GetParts()[0].GetThinking()
		require.Len(t, left.GetText(), 100)
		require.NotContains(t, left.GetText(), "é")
		left.Text = large
		require.True(t, proto.Equal(before, outline), "an outline lacks a field")
	}
}

// What stands for a result since it arrived is left out like the result, where the counter gives a filler its size.
func TestOutlineOfShortenedResults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		estimator  compactordv1.Estimator
		shown      string
		shortens   bool
		afterwards int
	}{
		{compactordv1.Estimator_ESTIMATOR_CHARS4, strings.Repeat("row ", 25), true, 25},
		{compactordv1.Estimator_ESTIMATOR_CHARS4, strings.Repeat("é", 50), false, 13},
		{compactordv1.Estimator_ESTIMATOR_CHARS4, "row", false, 1},
		{compactordv1.Estimator_ESTIMATOR_O200K_BASE, strings.Repeat("row ", 25), false, 26},
	} {
		counter, err := session.CounterFor(c.estimator)
		require.NoError(t, err)
		w := newLog(user("go"), assistant(calling("a", "read", "{}")), answers("a", strings.Repeat("x", 1000)))
		l := w.Messages[2]
		l.ArrivalEdits = []*compactordv1.Edit{{Index: 2, Kind: compactordv1.EditKind_EDIT_KIND_TRUNCATE_RESULT, Replacement: c.shown}}
		before := proto.CloneOf(l)
		outline := (&session.Outlines{Least: 100, Counter: counter}).Of(l)
		require.True(t, proto.Equal(before, l), "the message was changed")
		left := outline.GetArrivalEdits()[0].GetReplacement()
		require.Equal(t, c.shortens, left != c.shown)
		require.Len(t, left, len(c.shown))
		require.EqualValues(t, c.afterwards, session.TextTokens(counter, left))
	}
}

// Large arguments of calls are left out where what plans read of them is known. That stays known when others ask about the
// message itself.
func TestOutlineOfCalls(t *testing.T) {
	t.Parallel()
	large := `{"path":"a.go","content":"` + strings.Repeat("é", 50) + `"}`
	w := newLog(user("go"), assistant(calling("a", "write", large), calling("b", "read", "{}")))
	l := w.Messages[1]
	before := proto.CloneOf(l)
	facts := func(whole *compactordv1.LoggedMessage) (any, int) {
		return whole.GetMessage().GetParts()[0].GetToolCall().GetArguments()[:15], 15
	}
	for least, shortens := range map[int]bool{100: true, 1000: false} {
		known := &session.Known{}
		o := &session.Outlines{Least: least, To: 2, Facts: facts, Known: known}
		outline := o.Of(l)
		require.Equal(t, shortens, outline != l)
		require.True(t, proto.Equal(before, l), "the message was changed")
		if !shortens {
			require.Equal(t, len(large)+len("{}"), o.FactsBytes(l))
			continue
		}
		require.Equal(t, proto.Size(l)-len(large), o.Bytes(outline))
		require.Equal(t, 15+len("{}"), o.FactsBytes(outline))
		never := func(*compactordv1.LoggedMessage) any { return "read again" }
		require.Equal(t, "read again", known.Facts(l, never))
		require.Equal(t, large[:15], known.Facts(outline, never))
		left := outline.GetMessage().GetParts()[0].GetToolCall()
		require.Len(t, left.GetArguments(), len(large))
		require.NotContains(t, left.GetArguments(), "é")
		left.Arguments = large
		require.True(t, proto.Equal(before, outline), "an outline lacks a field")
	}
	require.Same(t, l, (&session.Outlines{Least: 1}).Of(l), "nobody would know what the arguments were")
}

// The tokens of arguments are those of the text, also where an outline has another one.
func TestArgumentTokens(t *testing.T) {
	t.Parallel()
	for _, estimator := range []compactordv1.Estimator{
		compactordv1.Estimator_ESTIMATOR_CHARS4, compactordv1.Estimator_ESTIMATOR_O200K_BASE,
	} {
		counter, err := session.CounterFor(estimator)
		require.NoError(t, err)
		for _, arguments := range []string{"", "{}", `{"content":"` + strings.Repeat("é and so on ", 20) + `"}`} {
			m := assistant(calling("a", "write", arguments))
			l := &compactordv1.LoggedMessage{Message: m, PartSizes: session.PartSizes(counter, m)}
			require.Equal(t, session.TextTokens(counter, arguments), session.ArgumentTokens(counter, l, 0), arguments)
		}
	}
}
