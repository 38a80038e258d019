package summaries_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/service/summaries"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/redaction/redactiontest"
)

// splitTurn returns a task for two texts.
func splitTurn() *summaries.Task {
	task := conversation()
	task.Prefix = talk(3, "Now the lexer. "+strings.Repeat("It waits. ", 100), "I look.")
	return task
}

const (
	turnText = "## Original Request\nThe lexer is slow.\n\n## Early Progress\n- some\n\n## Context for Suffix\n- some"
	joint    = "\n\n---\n\n# The turn in progress, up to the messages that follow\n\n"
)

// Parts may be written in any order and begin again: the pieces of the last attempt are the summary from its beginning.
func TestPiecesOfTheLastAttemptAreTheSummary(t *testing.T) {
	text := map[summarizers.Kind]string{summarizers.History: goal("Mend it."), summarizers.TurnPrefix: turnText}
	for name, c := range map[string]struct {
		// turnFirst: the text of the turn is written before that of the complete turns.
		turnFirst bool
		// voids: each text begins again once.
		voids    bool
		attempts uint32
	}{
		"in order":                   {false, false, 1},
		"the turn first":             {true, false, 1},
		"in order, begun anew":       {false, true, 3},
		"the turn first, and voided": {true, true, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				turn, history := make(chan struct{}), make(chan struct{})
				model := &scripted{name: "writer", do: func(
					_ context.Context, req *summarizers.Request, p summarizers.Progress,
				) (*summarizers.Summary, error) {
					if req.Kind == summarizers.TurnPrefix {
						defer close(turn)
						if !c.turnFirst {
							<-history
						}
					} else if c.turnFirst {
						<-turn
					}
					if c.voids {
						p.Text("Let me see")
						p.Again()
					}
					whole := text[req.Kind]
					for len(whole) > 0 {
						n := min(5, len(whole))
						p.Text(whole[:n])
						whole = whole[n:]
					}
					return &summarizers.Summary{Text: text[req.Kind]}, nil
				}}
				listener := &finishing{heard: &heard{}, after: text[summarizers.History], then: history}
				w := newWriter(t, concurrent{model, 3}, func(op *summaries.Operation) { op.Listener = listener })
				written, err := w.Write(t.Context(), splitTurn())
				require.NoError(t, err)
				require.Equal(t, goal("Mend it.")+joint+turnText, written.Text)
				require.Equal(t, written.Text, listener.text())
				require.Equal(t, c.attempts, listener.last)
			})
		})
	}
}

// finishing signals when a listener has received the end of a part, and the text that joins the next.
type finishing struct {
	*heard
	after string
	then  chan struct{}
	said  bool
}

func (f *finishing) Delta(ctx context.Context, attempt uint32, text string) {
	f.heard.Delta(ctx, attempt, text)
	if !f.said && f.text() == f.after+joint {
		f.said = true
		close(f.then)
	}
}

// What a part wrote before its turn is shown in one piece, in which a secret may be complete.
func TestWhatWasHeldBackIsRedacted(t *testing.T) {
	synctest.Test(t, testHeldBack)
}

func testHeldBack(t *testing.T) {
	t.Helper()
	leak := redactiontest.Credentials(1, 1)[0]
	ready, shown := make(chan struct{}), make(chan struct{})
	model := &scripted{name: "writer", do: func(
		_ context.Context, req *summarizers.Request, p summarizers.Progress,
	) (*summarizers.Summary, error) {
		if req.Kind == summarizers.History {
			<-ready
			p.Text(goal("Mend it."))
			return &summarizers.Summary{Text: goal("Mend it.")}, nil
		}
		p.Text(leak.Text)
		close(ready)
		<-shown
		return &summarizers.Summary{Text: turnText}, nil
	}}
	var pieces []string
	w := newWriter(t, concurrent{model, 3}, redacting, func(op *summaries.Operation) {
		op.Listener = collector(func(text string) {
			if pieces = append(pieces, text); len(pieces) == 3 {
				close(shown)
			}
		})
	})
	_, err := w.Write(t.Context(), splitTurn())
	require.NoError(t, err)
	require.Contains(t, pieces[2], "REDACTED")
	require.NotContains(t, strings.Join(pieces, ""), leak.Secret)
}

// A part of a character is not shown. Bytes that are not UTF-8 are shown as replacement characters.
func TestPiecesAreWholeCharacters(t *testing.T) {
	var pieces []string
	model := &scripted{name: "writer", do: func(
		_ context.Context, _ *summarizers.Request, p summarizers.Progress,
	) (*summarizers.Summary, error) {
		for _, piece := range []string{"a\xe4", "\xbd", "\xa0b", "\xf0\x9f\x98", "\x80", "\xff", "c\xe4"} {
			p.Text(piece)
		}
		p.Again()
		p.Text("d")
		return nil, errors.New("broken")
	}}
	w := newWriter(t, model, func(op *summaries.Operation) {
		op.Listener = collector(func(text string) { pieces = append(pieces, text) })
	})
	_, err := w.Write(t.Context(), conversation())
	require.Error(t, err)
	require.Equal(t, []string{"a", "你b", "😀", "\uFFFD", "c", "d"}, pieces)
}

// collector is a Listener that receives the pieces of a summary.
type collector func(text string)

func (collector) Read(context.Context, uint32, uint32)             {}
func (c collector) Delta(_ context.Context, _ uint32, text string) { c(text) }
func (collector) Checked(context.Context)                          {}

// Progress never falls, whatever a summarizer reports, and has few steps.
func TestProgressOfReading(t *testing.T) {
	model := says(goal("Mend it."))
	told := model.do
	model.do = func(
		ctx context.Context, req *summarizers.Request, p summarizers.Progress,
	) (*summarizers.Summary, error) {
		for _, tokens := range []uint32{1, 9, 10, 400, 200, 5_000_000} {
			p.Read(tokens)
		}
		return told(ctx, req, p)
	}
	w := newWriter(t, model)
	task := conversation()
	task.History[0].Tokens, task.History[1].Tokens = 500, 400
	_, err := w.Write(t.Context(), task)
	require.NoError(t, err)
	require.Equal(t, []uint32{0, 10, 400, 900, 1000}, w.listener.reads, "a hundredth at least, and no more than there is")
	require.Equal(t, uint32(1000), w.listener.total)
}

// The Listener may be nil.
func TestNilListener(t *testing.T) {
	w := newWriter(t, says("They worked.", goal("Mend it.")), func(op *summaries.Operation) { op.Listener = nil })
	written, err := w.Write(t.Context(), conversation())
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(written.Text, "## "))
}
