package summaries_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/summaries"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive"
	"github.com/compactord/compactord/summarizers/grounding"
)

// named returns a task whose messages have names that the goal of a summary does not show.
func named() *summaries.Task {
	return &summaries.Task{
		History: talk(1, "Please mend the parser. "+strings.Repeat("It loops. ", 300),
			"parseHeader in src/parser.go reads maxHeaderLines = 40"),
		MaxTokens: 1000, Replaces: 2000,
	}
}

const quoteOfNamed = "- [#2] parseHeader in src/parser.go reads maxHeaderLines = 40"

// A model writes the narrative in half of the budget. Quotes and marks are added to it, and the listener is sent the
// whole text. Other texts stay as they are.
func TestWhoseTextsGetQuotesAndMarks(t *testing.T) {
	t.Parallel()
	narrative := goal("Mend `src/ghost_file.go` and parseHeader.")
	completed := strings.Replace(strings.Replace(narrative, "go`", "go`"+grounding.Mark, 1),
		"## Critical Context\n- some", "## Critical Context\n- some\n"+quoteOfNamed, 1)
	for name, c := range map[string]struct {
		by   summarizers.Summarizer
		want string
	}{
		"a model":                {says(narrative), completed},
		"an answer of a client":  {&summaries.ClientTexts{Texts: []string{narrative}, Prompted: true}, completed},
		"a summary of a client":  {&summaries.ClientTexts{Texts: []string{narrative}}, narrative},
		"a model beside an item": {summaries.BesideModel(extractive.New(), "small"), ""},
	} {
		w := newWriter(t, c.by)
		written, err := w.Write(t.Context(), named())
		require.NoError(t, err, name)
		if c.want == "" {
			require.NotContains(t, written.Text, grounding.Mark)
			continue
		}
		require.Equal(t, c.want, written.Text, name)
		unsupported := uint32(strings.Count(c.want, grounding.Mark))
		require.Equal(t, unsupported, written.UnsupportedNames, name)
		p := &compactordv1.Provenance{}
		written.SetWriterIn(p)
		require.Equal(t, unsupported, p.GetUnsupportedNames(), name)
		if model, ok := c.by.(*scripted); ok {
			require.Equal(t, c.want, w.listener.text())
			require.Equal(t, uint32(2), w.listener.last)
			require.Equal(t, []uint32{1000, 500}, []uint32{model.requests[0].MaxTokens, model.requests[0].ModelBudget()})
		}
	}
}

// The fallback has the whole budget, and nobody adds to its text.
func TestFallbackWritesItsOwnQuotes(t *testing.T) {
	t.Parallel()
	w := newWriter(t, says("nothing", "nothing"), falling)
	written, err := w.Write(t.Context(), named())
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(written.Text, strings.TrimPrefix(quoteOfNamed, "- [#2] ")))
	require.Zero(t, written.UnsupportedNames)
}

// A budget that is too small to be divided is the model's.
func TestSmallBudgetsAreTheModels(t *testing.T) {
	t.Parallel()
	for budget, want := range map[uint32]uint32{100: 100, 400: 400, 600: 400, 800: 400, 900: 450, 13_107: 6553} {
		model := says(goal("Mend it."))
		task := named()
		task.MaxTokens, task.Replaces = budget, 20_000
		_, err := newWriter(t, model).Write(t.Context(), task)
		require.NoError(t, err)
		require.Equal(t, want, model.requests[0].ModelBudget())
		requests := newWriter(t, model).WriteRequests(task)
		require.Equal(t, want, requests[0].ModelBudget(), "and so it is estimated")
	}
}

// What the model may know is no invention: the conversation with what is pinned or kept, and what its prompt has.
func TestWhatAModelMayName(t *testing.T) {
	t.Parallel()
	task := named()
	task.Previous = "## Goal\n- see previous_name, and " + "previous_ghost" + grounding.Mark
	names := []string{
		"maxHeaderLines", "lead_name", "pinned_name", "kept_name", "previous_name", "focus_name", "context_name", "tool_name_of",
		"todo_name", "read_file.go", "modified_file.go", "request_name",
	}
	model := says(goal("Mind " + strings.Join(names, ", ") + ", previous_ghost and new_ghost."))
	w := newWriter(t, model, func(op *summaries.Operation) {
		op.Focus = "focus_name"
		op.Policy.Summary.ExtraContext = &compactordv1.TextList{Texts: []string{"context_name"}}
		op.Policy.Summary.ToolsJson = proto.String(`[{"name":"tool_name_of"}]`)
		op.State.Lead, op.State.OutOfPlace, op.State.Kept = talk(0, "lead_name"), talk(7, "pinned_name"), talk(9, "kept_name")
		op.State.Entry = &compactordv1.CompactionEntry{
			Slots: &compactordv1.Slots{
				OpenTodos: []*compactordv1.Todo{{Text: "todo_name"}}, LastUserRequest: &compactordv1.UserRequest{Text: "request_name"},
			},
			Files: &compactordv1.FileLists{Read: []string{"read_file.go"}, Modified: []string{"modified_file.go"}},
		}
	})
	written, err := w.Write(t.Context(), task)
	require.NoError(t, err)
	require.Contains(t, written.Text, strings.Join(names, ", ")+", previous_ghost"+grounding.Mark+" and new_ghost"+grounding.Mark+".")
	require.Equal(t, uint32(2), written.UnsupportedNames)
}

// Both parts of a split turn may name what either part of the conversation says.
func TestPartsOfASplitTurnShareTheirSource(t *testing.T) {
	t.Parallel()
	turn := strings.NewReplacer("## Goal", "## Original Request", "## Done", "## Early Progress").Replace("## Goal\nMind maxHeaderLines and turn_ghost.")
	model := &scripted{name: "writer", do: func(
		_ context.Context, req *summarizers.Request, _ summarizers.Progress,
	) (*summarizers.Summary, error) {
		if req.Kind == summarizers.TurnPrefix {
			return &summarizers.Summary{Text: turn}, nil
		}
		return &summarizers.Summary{Text: goal("Mind later_name and history_ghost.")}, nil
	}}
	task := named()
	task.Prefix = talk(5, "Now look at later_name. "+strings.Repeat("It is slow. ", 100))
	written, err := newWriter(t, model).Write(t.Context(), task)
	require.NoError(t, err)
	require.Equal(t, uint32(2), written.UnsupportedNames)
	require.Contains(t, written.Text, "later_name and history_ghost"+grounding.Mark+".")
	require.Contains(t, written.Text, "Mind maxHeaderLines and turn_ghost"+grounding.Mark+".")
}

// On the agent's own prompt the model sees the quotes of the summary before. Those that it copies compete like the others.
func TestQuotesThatAModelCopies(t *testing.T) {
	t.Parallel()
	const copied = "- [#0] oldName = oldValue4711 + olderName"
	text := strings.Replace(goal("Mend it."), "## Critical Context\n- some", "## Critical Context\n"+copied, 1)
	model := &scripted{name: "writer", do: func(
		context.Context, *summarizers.Request, summarizers.Progress,
	) (*summarizers.Summary, error) {
		return &summarizers.Summary{Text: text, CachedPrefix: true}, nil
	}}
	task := named()
	task.Previous = "## Goal\nMend it.\n\n## Critical Context\n" + copied
	written, err := newWriter(t, model).Write(t.Context(), task)
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(written.Text, "oldValue4711"))
	require.Contains(t, written.Text, "## Critical Context\n"+copied+"\n"+quoteOfNamed+"\n\n")
	task.MaxTokens = uint32(len(written.Text)-len(copied))/4 + 2
	written, err = newWriter(t, model).Write(t.Context(), task)
	require.NoError(t, err)
	require.NotContains(t, written.Text, "oldValue4711", "the newest quote has the room")
}

// The marks stay within the budget, and all names count.
func TestMarksThatDoNotFit(t *testing.T) {
	t.Parallel()
	text := goal("Mind src/ghost_one.go, src/ghost_two.go, src/ghost_three.go and src/ghost_four.go.")
	task := named()
	for marks := range 3 {
		task.MaxTokens = uint32(len(text)+3)/4 + uint32(marks*len(grounding.Mark)/4+marks)
		written, err := newWriter(t, says(text)).Write(t.Context(), task)
		require.NoError(t, err)
		require.Equal(t, marks, strings.Count(written.Text, grounding.Mark))
		require.Equal(t, text, strings.ReplaceAll(written.Text, grounding.Mark, ""))
		require.Equal(t, uint32(4), written.UnsupportedNames)
	}
}

// With its mark a text may have just the budget, but not as much as it replaces.
func TestMarkThatJustFits(t *testing.T) {
	t.Parallel()
	text := goal("Mind src/ghost_one.go.")
	marked := strings.Replace(text, ".go.", ".go"+grounding.Mark+".", 1)
	tokens := uint32(len(marked)+3) / 4
	for name, c := range map[string]struct {
		budget, replaces uint32
		want             string
	}{
		"just the budget":        {tokens, tokens + 1, marked},
		"more than the budget":   {tokens - 1, tokens + 1, text},
		"as much as it replaces": {tokens, tokens, text},
	} {
		task := named()
		task.MaxTokens, task.Replaces = c.budget, c.replaces
		written, err := newWriter(t, says(text)).Write(t.Context(), task)
		require.NoError(t, err)
		require.Equal(t, c.want, written.Text, name)
	}
}

// breaking is a counter that panics for a text with a mark.
type breaking struct{ session.Counter }

func (b breaking) TextSize(text string) uint32 {
	if strings.Contains(text, grounding.Mark) {
		panic("marked")
	}
	return b.Counter.TextSize(text)
}

// A bug in what is added to a model's text does not cost the text.
func TestTextOutlivesABugInWhatIsAdded(t *testing.T) {
	t.Parallel()
	text := goal("Mend src/ghost_file.go.")
	w := newWriter(t, says(text), func(op *summaries.Operation) { op.State.Counter = breaking{op.State.Counter} })
	written, err := w.Write(t.Context(), named())
	require.NoError(t, err)
	require.Equal(t, text, written.Text)
	require.Zero(t, written.UnsupportedNames)
	require.Contains(t, w.log.String(), "panicked")
	require.NotContains(t, w.log.String(), "ghost")
}

// Where the operation ends while the quotes are chosen, its cause is returned, and the model's costs count.
func TestEndWhileQuotesAreChosen(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	w := newWriter(t, says(goal("Mend it.")), func(op *summaries.Operation) {
		op.State.Counter = ending{op.State.Counter, cancel}
	})
	_, err := w.Write(ctx, named())
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, uint32(1), w.Spent().Calls)
}

// ending is a counter that cancels when quotes are counted.
type ending struct {
	session.Counter
	cancel func()
}

func (e ending) TextSize(text string) uint32 {
	if strings.Contains(text, quoteOfNamed) {
		e.cancel()
	}
	return e.Counter.TextSize(text)
}
