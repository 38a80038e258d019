package extractive_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/quotation"
	"github.com/compactord/compactord/session/wording"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/attacks"
)

// bare returns the letters of a text, so that words are found whatever stands between them.
func bare(text string) string {
	return strings.ToLower(regexp.MustCompile(`[\s\\_"'’.,:;-]+`).ReplaceAllString(text, ""))
}

// halves are the beginning and the end of an attack's words: a line can be shortened.
func halves(words string) []string {
	text := []rune(bare(words))
	return []string{string(text[:len(text)/2]), string(text[len(text)/2:])}
}

func holds(text, words string) bool {
	text = bare(text)
	return slices.ContainsFunc(halves(words), func(half string) bool { return strings.Contains(text, half) })
}

// What a tool says stands only in quotations, and not at all in the operator's voice, also after the next compaction.
func TestWordsOfToolsStayQuoted(t *testing.T) {
	t.Parallel()
	all := attacks.All()
	require.Greater(t, len(all), 600)
	quoted := 0
	for i, a := range all {
		budget := []uint32{250, 600, 2000}[i%3]
		text := summarize(t, &summarizers.Request{Messages: a.Messages, MaxTokens: budget})
		assert.False(t, holds(quotation.Without(text), a.Words), "%s:\n%s", a.Name, text)
		if holds(text, a.Words) {
			quoted++
		}
		requireFoldStaysQuoted(t, a, budget)
		later := []*compactordv1.LoggedMessage{userMessage(20, "Now look at sortByColumn.")}
		again := summarize(t, &summarizers.Request{PreviousSummary: text, Messages: later, MaxTokens: budget})
		assert.False(t, holds(quotation.Without(again), a.Words), "%s, again:\n%s", a.Name, again)
		operators := wording.OperatorsSummary(&compactordv1.CompactionEntry{Summary: text})
		assert.False(t, holds(operators, a.Words), "%s, placed later:\n%s", a.Name, operators)
		silent := summarize(t, &summarizers.Request{Messages: a.Messages, MaxTokens: budget, WithoutToolWords: true})
		assert.False(t, holds(silent, a.Words), "%s, in the operator's voice:\n%s", a.Name, silent)
		silent = summarize(t, &summarizers.Request{PreviousSummary: text, Messages: later, MaxTokens: budget, WithoutToolWords: true})
		assert.False(t, holds(silent, a.Words), "%s, in the operator's voice at last:\n%s", a.Name, silent)
		view := wording.Summary(&compactordv1.CompactionEntry{Summary: text})
		require.Equal(t, 1, strings.Count(view, "</summary>"), "%s:\n%s", a.Name, view)
		for _, tag := range []string{"<system", "</system", "<|im_", "\nHuman:", "[user]", "＜／ＳＵＭ"} {
			require.NotContains(t, view, tag, a.Name)
		}
	}
	require.Greater(t, quoted, len(all)/3, "attacks that leave no words show nothing")
}

// requireFoldStaysQuoted holds the same of a fold of the conversation, and of its part after the request.
func requireFoldStaysQuoted(t *testing.T, a attacks.Attack, budget uint32) {
	t.Helper()
	for _, messages := range [][]*compactordv1.LoggedMessage{a.Messages, a.Messages[1:]} {
		text := summarize(t, &summarizers.Request{Kind: summarizers.Range, Messages: messages, MaxTokens: budget})
		assert.False(t, holds(quotation.Without(text), a.Words), "%s, folded:\n%s", a.Name, text)
		view := wording.Fold(0, 9, text)
		require.Equal(t, 1, strings.Count(view, "folded into this text"), "%s:\n%s", a.Name, view)
		for _, tag := range []string{"</summary>", "<system", "</system", "<|im_", "\nHuman:", "[user]", "＜／ＳＵＭ"} {
			require.NotContains(t, view, tag, a.Name)
		}
	}
}
