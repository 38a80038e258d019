package summaries_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/summaries"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive"
)

// A summary by a model has one text, or two where a turn is split that has begun in earnest. The text of the complete
// turns may exist already.
func TestTextsOfASummary(t *testing.T) {
	history := talk(1, "Mend the parser. "+strings.Repeat("It loops. ", 400), "Done.")
	prefix := talk(3, "Now the lexer. "+strings.Repeat("It waits. ", 400), "I look.")
	short := strings.Repeat("word ", 100)  // 125 tokens
	middle := strings.Repeat("word ", 500) // 625 tokens
	long := strings.Repeat("word ", 1000)  // 1250 tokens
	view := agentViewOf(&session.View{})
	type text struct {
		kind      summarizers.Kind
		messages  int
		previous  string
		maxTokens uint32
		view      bool
	}
	const turn, all = summarizers.TurnPrefix, summarizers.History
	for name, c := range map[string]struct {
		task summaries.Task
		want []text
	}{
		"complete turns": {
			summaries.Task{History: history, Previous: short, MaxTokens: 1032},
			[]text{{all, 2, short, 1032, false}},
		},
		"a split turn": {
			summaries.Task{History: history, Prefix: prefix, Previous: short, MaxTokens: 1332},
			[]text{{all, 2, short, 800, false}, {turn, 2, "", 500, false}},
		},
		"a split turn in one text": {
			summaries.Task{History: history, Prefix: prefix, Previous: short, MaxTokens: 1332, Whole: true},
			[]text{{all, 4, short, 1332, false}},
		},
		"a split turn on the agent's own prompt": {
			summaries.Task{History: history, Prefix: prefix, MaxTokens: 1332, AgentView: view},
			[]text{{all, 4, "", 1332, true}},
		},
		"too small for two texts": {
			summaries.Task{History: history, Prefix: prefix, MaxTokens: 32 + 163},
			[]text{{all, 4, "", 32 + 163, false}},
		},
		"just enough for two texts": {
			summaries.Task{History: history, Prefix: prefix, MaxTokens: 32 + 164},
			[]text{{all, 2, "", 100, false}, {turn, 2, "", 64, false}},
		},
		"the turn alone": {
			summaries.Task{Prefix: prefix, MaxTokens: 1332},
			[]text{{all, 2, "", 1332, false}},
		},
		"a turn that has hardly begun": {
			summaries.Task{History: history, Prefix: talk(3, strings.Repeat("word ", 199)), MaxTokens: 1332},
			[]text{{all, 3, "", 1332, false}},
		},
		"a turn that has begun": {
			summaries.Task{History: history, Prefix: talk(3, strings.Repeat("word ", 200)), MaxTokens: 1332},
			[]text{{all, 2, "", 800, false}, {turn, 1, "", 500, false}},
		},
		"a summary before the turn that fits": {
			summaries.Task{Prefix: prefix, Previous: short, MaxTokens: 1332},
			[]text{{turn, 2, "", 500, false}},
		},
		"one that takes more than its share": {
			summaries.Task{Prefix: prefix, Previous: middle, MaxTokens: 732 + 32},
			[]text{{turn, 2, "", 732 - 625, false}},
		},
		"one that does not fit": {
			summaries.Task{Prefix: prefix, Previous: long, MaxTokens: 1332 - 13},
			[]text{{all, 0, long, 792, false}, {turn, 2, "", 495, false}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWriter(t, says(""))
			c.task.Replaces = math.MaxUint32
			var got []text
			for _, req := range w.WriteRequests(&c.task) {
				got = append(got, text{req.Kind, len(req.Messages), req.PreviousSummary, req.MaxTokens, req.View != nil})
				require.Equal(t, uint32(math.MaxUint32), req.Replaces)
			}
			require.Equal(t, c.want, got)
		})
	}
}

// `extractive` writes two texts only where both parts of a split turn have much to say.
func TestTextsByExtractive(t *testing.T) {
	words := func(first uint32, n int, more ...string) []*compactordv1.LoggedMessage {
		return talk(first, append([]string{strings.Repeat("word ", n)}, more...)...)
	}
	previous := strings.Repeat("word ", 300)
	for name, c := range map[string]struct {
		task  summaries.Task
		texts int
	}{
		"four messages":     {summaries.Task{History: words(1, 400), Prefix: words(2, 400, "a", "b", "c")}, 2},
		"three messages":    {summaries.Task{History: words(1, 400), Prefix: words(2, 400, "a", "b")}, 1},
		"a short prefix":    {summaries.Task{History: words(1, 400), Prefix: words(2, 80, "a", "b", "c")}, 1},
		"a short history":   {summaries.Task{History: words(1, 80), Prefix: words(2, 400, "a", "b", "c")}, 1},
		"with a summary":    {summaries.Task{History: words(1, 80), Previous: previous, Prefix: words(2, 400, "a", "b", "c")}, 2},
		"a summary alone":   {summaries.Task{Previous: previous, Prefix: words(2, 400, "a", "b", "c")}, 1},
		"no history at all": {summaries.Task{Prefix: words(2, 400, "a", "b", "c")}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			c.task.MaxTokens, c.task.Replaces = 2000, math.MaxUint32
			requests := newWriter(t, extractive.New()).WriteRequests(&c.task)
			require.Len(t, requests, c.texts)
			if c.texts == 2 {
				require.Equal(t, c.task.Prefix, requests[0].Following, "it shows how the work went on")
				require.Empty(t, requests[1].Following)
			}
			require.Equal(t, c.task.Previous, requests[0].PreviousSummary)
		})
	}
}

// `extractive` does not use the agent's own prompt.
func TestOnlyModelsWriteOnTheAgentsPrompt(t *testing.T) {
	w := newWriter(t, summaries.BesideModel(&scripted{name: summaries.Fallback}, "large"))
	requests := w.WriteRequests(&summaries.Task{
		History: talk(1, "Mend."), Prefix: talk(2, "Now.", "I look.", "And?", "Done."), MaxTokens: 1000, Replaces: 2000,
		AgentView: agentViewOf(&session.View{}),
	})
	require.Len(t, requests, 2)
	require.Nil(t, requests[0].View)
}

// The texts of a split turn are joined. One that exists already stays as it is.
func TestSummaryOfASplitTurn(t *testing.T) {
	model := says(turnText)
	w := newWriter(t, model, func(op *summaries.Operation) { op.ToRead = 13 })
	written, err := w.Write(t.Context(), &summaries.Task{
		Prefix: talk(3, "Now the lexer.", "I look."), Previous: "## Goal\nMend the parser.", MaxTokens: 1000, Replaces: 2000,
		PreviousSections: sessiontest.CodeSections(),
	})
	require.NoError(t, err)
	require.Equal(t, sessiontest.CodeSections(), written.Sections, "those of the text that goes on as it is")
	require.True(t, strings.HasPrefix(written.Text, "## Goal\nMend the parser.\n\n---\n\n# The turn in progress"), written.Text)
	require.True(t, strings.HasSuffix(written.Text, "## Context for Suffix\n- some"), written.Text)
	require.Equal(t, written.Text, w.listener.text())
	require.Equal(t, uint32(13), w.listener.reads[len(w.listener.reads)-1], "all has been read")
}

// Every request has the settings of the policy.
func TestRequestsSayWhatThePolicySays(t *testing.T) {
	w := newWriter(t, says(""), func(op *summaries.Operation) {
		op.Focus = "the parser"
		op.State.Lead = talk(0, "Be brief.")
		summary := op.Policy.GetSummary()
		summary.Sections = &compactordv1.SectionList{Sections: sessiontest.CodeSections()}
		summary.PromptOverride = proto.String("In a line.")
		summary.ExtraContext = &compactordv1.TextList{Texts: []string{"one", "two"}}
		summary.Input = &compactordv1.SummaryInput{ToolResultChars: proto.Uint32(7), Thinking: proto.Bool(false)}
	})
	req := w.WriteRequests(conversation())[0]
	require.Equal(t, "the parser", req.Focus)
	require.Equal(t, w.op.State.Lead, req.Lead)
	require.Equal(t, sessiontest.CodeSections(), req.Sections)
	require.Equal(t, "In a line.", req.PromptOverride)
	require.Equal(t, []string{"one", "two"}, req.ExtraContext)
	require.Equal(t, summarizers.Input{ToolResultChars: 7, ToolArgumentChars: 2000}, req.Input)
	require.Equal(t, uint32(2), req.Count("eight ch"))
	require.Nil(t, req.Redact)
}
