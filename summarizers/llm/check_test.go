package llm_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers"
)

// If the caller replaced the instructions, sections are not checked, but everything else is.
func TestReplacedInstructions(t *testing.T) {
	t.Parallel()
	prose := "They worked on the parser, which reads line by line."
	req := asking(summarizers.History, long(3)...)
	req.PromptOverride = "Tell in a sentence what happened."
	r := summarize(t, small, req, says(prose))
	require.NoError(t, r.err)
	require.Equal(t, prose, r.summary.Text)
	require.Contains(t, r.sent[0].User, req.PromptOverride)

	for text, check := range map[string]string{
		"": summarizers.CheckEmpty, "I'm sorry, I cannot do that.": summarizers.CheckErrorText,
		strings.Repeat(prose, 100): summarizers.CheckBudget,
	} {
		r = summarize(t, small, req, says(text))
		requireCheck(t, check, r.err)
	}
	r = summarize(t, small, asking(summarizers.History, long(3)...), says(prose))
	requireCheck(t, summarizers.CheckSections, r.err)
}

// Fences around an answer are removed, and the streamed text is withdrawn and replaced.
func TestFencesAreTakenOff(t *testing.T) {
	t.Parallel()
	r := summarize(t, small, asking(summarizers.History, long(3)...), says("```markdown\n", good, "\n```"))
	require.NoError(t, r.err)
	require.Len(t, r.sent, 1)
	require.Equal(t, good, r.summary.Text)
	require.Equal(t, good, r.shown)
	require.Equal(t, 1, r.voided)
}

// The budget counts tokens of the session, and the output limit tokens of the model: a summary within its budget
// passes.
func TestSummaryAsLargeAsItsBudget(t *testing.T) {
	t.Parallel()
	req := asking(summarizers.History, long(3)...)
	req.MaxTokens = count(good)
	r := summarize(t, small, req, says(good))
	require.NoError(t, r.err)
	req.MaxTokens--
	r = summarize(t, small, req, says(good))
	requireCheck(t, summarizers.CheckBudget, r.err)
	require.Contains(t, r.sent[1].User, "at most")

	req.MaxTokens, req.Replaces = 1_000, count(good)
	r = summarize(t, small, req, says(good))
	requireCheck(t, summarizers.CheckSize, r.err)
}

// An answer that only the next prompt continues from replaces nothing yet.
func TestIntermediateAnswersReplaceNothing(t *testing.T) {
	t.Parallel()
	req := asking(summarizers.History, long(120)...)
	req.Replaces = count(good)
	r := summarize(t, small, req, says(good+strings.Repeat("\n- more", 20)), says(good+strings.Repeat("\n- more", 20)), says(good))
	requireCheck(t, summarizers.CheckSize, r.err)
	require.Len(t, r.sent, 4, "the last of three is refused")
}

// If a model cannot write as much as the budget, the prompt names what it can write.
func TestBudgetIsLoweredToWhatTheModelWrites(t *testing.T) {
	t.Parallel()
	terse := small
	terse.MaxOutput = 300
	r := summarize(t, terse, asking(summarizers.History, "hello"), says(good))
	require.NoError(t, r.err)
	req := asking(summarizers.History, "hello")
	req.MaxTokens = 200
	lower := summarize(t, small, req, says(good))
	require.NoError(t, lower.err)
	require.Equal(t, lower.sent[0], r.sent[0])
}

// A model is told its part of the budget, in any form of the prompt, and its text may have all of it.
func TestModelsPartOfTheBudget(t *testing.T) {
	t.Parallel()
	long := good + strings.Repeat(" and so on", 200)
	require.Greater(t, count(long), uint32(450))
	for _, req := range []*summarizers.Request{
		asking(summarizers.History, "hello"), onAgentsPrompt(summarizers.History, "hello"),
	} {
		req.NarrativeTokens = 450
		r := summarizeBy(t.Context(), t, small, req, anthropicModel(says(long)))
		require.NoError(t, r.err)
		require.Len(t, r.sent, 1)
		require.Contains(t, r.sent[0].User, "Use at most 450 tokens")
		require.Equal(t, uint32(675), r.sent[0].MaxOutputTokens)
	}
}
