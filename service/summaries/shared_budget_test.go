package summaries_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/service/summaries"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive"
)

// halves returns a task for two texts, of four messages each. The complete turns are `history` words long, and the turn
// in progress is `prefix` words long.
func halves(history, prefix int) *summaries.Task {
	return &summaries.Task{
		History: talk(1, "Mend the parser.", strings.Repeat("word ", history), "And?", "Done."),
		Prefix:  talk(5, "Now the lexer.", strings.Repeat("word ", prefix), "And?", "I look."),
		Kept:    talk(9, "Go on."), MaxTokens: 1332, Replaces: 2000,
	}
}

// byKind returns a summarizer that writes these texts.
func byKind(name string) *scripted {
	return &scripted{name: name, do: func(
		_ context.Context, req *summarizers.Request, p summarizers.Progress,
	) (*summarizers.Summary, error) {
		text := goal("Mend it.")
		if req.Kind == summarizers.TurnPrefix {
			text = turnText
		}
		p.Text(text)
		return &summarizers.Summary{Text: text}, nil
	}}
}

// What one text of a summary leaves of its budget is for the other, which sees that text. `extractive` writes the
// smaller one first. A model writes in order if it writes one at a time, and else each has its own budget.
func TestTextsShareTheBudget(t *testing.T) {
	history, turn := uint32(len(goal("Mend it."))+3)/4, uint32(len(turnText)+3)/4
	type request struct {
		kind      summarizers.Kind
		maxTokens uint32
		said      string
	}
	for name, c := range map[string]struct {
		by             summarizers.Summarizer
		before, during int
		want           []request
	}{
		"extractive, a short turn": {byKind(summaries.Fallback), 400, 300, []request{
			{summarizers.TurnPrefix, 500, ""}, {summarizers.History, 800 + 500 - turn, turnText},
		}},
		"extractive, a long turn": {byKind(summaries.Fallback), 300, 400, []request{
			{summarizers.History, 800, ""}, {summarizers.TurnPrefix, 500 + 800 - history, goal("Mend it.")},
		}},
		"a model": {byKind("writer"), 400, 300, []request{
			{summarizers.History, 800, ""}, {summarizers.TurnPrefix, 500 + 800 - history, goal("Mend it.")},
		}},
		"a model, two at a time": {concurrent{byKind("writer"), 2}, 400, 300, []request{
			{summarizers.History, 800, ""}, {summarizers.TurnPrefix, 500, ""},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWriterWith(t, fallbackOf(c.by), c.by)
			written, err := w.Write(t.Context(), halves(c.before, c.during))
			require.NoError(t, err)
			require.Equal(t, goal("Mend it.")+joint+turnText, written.Text, "in the order of the log")
			require.Equal(t, written.Text, w.listener.text())
			seen := requestsOf(c.by)
			require.Len(t, seen, 2)
			if _, several := c.by.(concurrent); several {
				slices.SortFunc(seen, func(a, b *summarizers.Request) int { return int(a.Kind) - int(b.Kind) })
			}
			for i, want := range c.want {
				kept := seen[i].Kept
				got := request{seen[i].Kind, seen[i].MaxTokens, ""}
				if want.said != "" {
					got.said = kept[0].GetMessage().GetParts()[0].GetText().GetText()
				}
				require.Equal(t, want, got)
				require.Equal(t, "Go on.", kept[len(kept)-1].GetMessage().GetParts()[0].GetText().GetText())
				require.Equal(t, want.said == "", len(kept) == 1)
			}
		})
	}
}

// fallbackOf returns the fallback for a summarizer, which may be the fallback itself.
func fallbackOf(by summarizers.Summarizer) summarizers.Summarizer {
	if by.Name() == summaries.Fallback {
		return by
	}
	return extractive.New()
}

func requestsOf(by summarizers.Summarizer) []*summarizers.Request {
	switch by := by.(type) {
	case *scripted:
		return by.requests
	case concurrent:
		return by.requests
	default:
		return nil
	}
}

// A fallback, too, has what the other text has left, once.
func TestFallbackHasWhatTheOtherTextLeft(t *testing.T) {
	model := byKind("writer")
	faithful := model.do
	model.do = func(
		ctx context.Context, req *summarizers.Request, p summarizers.Progress,
	) (*summarizers.Summary, error) {
		if req.Kind == summarizers.TurnPrefix {
			return nil, errors.New("broken")
		}
		return faithful(ctx, req, p)
	}
	fallback := byKind(summaries.Fallback)
	w := newWriterWith(t, fallback, model, falling)
	_, err := w.Write(t.Context(), halves(400, 300))
	require.NoError(t, err)
	require.Len(t, fallback.requests, 1)
	require.Equal(t, model.requests[1].MaxTokens, fallback.requests[0].MaxTokens)
	require.Len(t, fallback.requests[0].Kept, 2)
}

// Both texts of a summary by `extractive` together stay within the budget and use it, and quote nothing twice.
func TestTwoTextsByExtractive(t *testing.T) {
	counter := newWriter(t, extractive.New()).op.State.ModelCounter()
	for _, budget := range []uint32{300, 500, 800, 1500, 3000} {
		written, err := newWriter(t, extractive.New()).Write(t.Context(), overlapping(budget))
		require.NoError(t, err)
		require.Contains(t, written.Text, joint, "%d", budget)
		tokens := session.TextTokens(counter, written.Text)
		require.LessOrEqual(t, tokens, budget)
		require.GreaterOrEqual(t, tokens, budget*9/10, "%d", budget)
		seen := map[string]bool{}
		for line := range strings.Lines(written.Text) {
			_, line, _ = strings.Cut(line, "] I call ")
			require.False(t, line != "" && seen[line], "%d: %s", budget, line)
			seen[line] = true
		}
	}
}

// What the first text of a summary says is no message of the log: where the texts of messages are read from the log, the
// second text is shown it as it was written.
func TestSaidTextIsNotReadFromTheLog(t *testing.T) {
	task := overlapping(800)
	w := newWriter(t, extractive.New(), func(op *summaries.Operation) {
		state := logged(slices.Concat(task.History, task.Prefix))
		state.Lead = nil
		op.State = sessiontest.OutlinedWith(state, strategies.OutlineFacts)
	})
	written, err := w.Write(t.Context(), task)
	require.NoError(t, err)

	whole, err := newWriter(t, extractive.New()).Write(t.Context(), overlapping(800))
	require.NoError(t, err)
	require.Equal(t, whole.Text, written.Text)
}

// overlapping returns a task for two texts whose messages say partly the same.
func overlapping(budget uint32) *summaries.Task {
	var said []string
	for i := range 300 {
		said = append(said, "I call parseRule"+strings.Repeat("X", i%7)+string(rune('a'+i%26))+" in "+path(i)+" now.")
	}
	return &summaries.Task{
		Replaces: 100_000, MaxTokens: budget,
		History: talk(1, append([]string{"Please port the parser.", path(1000)}, said[:200]...)...),
		Prefix:  talk(203, append([]string{"Please write the tests.", path(1001)}, said[150:]...)...),
	}
}

func path(i int) string {
	return "pkg/m" + string(rune('a'+i%26)) + "/file" + string(rune('a'+i/26%26)) + ".go"
}
