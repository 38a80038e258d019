package llm_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/llm"
)

// A model's error becomes a typed failure, without a text that could become the summary.
func TestCase099ErrorOfTheModelIsTyped(t *testing.T) {
	t.Parallel()
	r := summarize(t, small, asking(summarizers.History, "hello"), reply{
		deltas: []string{"## Goal\nhalf a sum"}, err: &summarizers.ProviderError{Status: http.StatusBadRequest, Code: "invalid_request_error"},
	})
	failure := requireProviderError(t, r.err)
	require.Equal(t, "the provider answered with HTTP status 400 (invalid_request_error)", failure.Error())
	require.Empty(t, r.summary.Text)
	require.Len(t, r.sent, 1)
}

func TestCase100EmptySummaryIsAnError(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"empty": "", "white space": " \n\t "} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := summarize(t, small, asking(summarizers.History, "hello"), says(text))
			requireCheck(t, summarizers.CheckEmpty, r.err)
			require.Empty(t, r.summary.Text)
			require.Len(t, r.sent, 2)
			require.Contains(t, r.sent[1].User, "The summary is empty once thinking is removed.")
			require.Empty(t, r.waits, "what is refused is asked for again at once")
		})
	}
}

// A summary that the output limit ended is requested once more, with twice the output limit, and then refused.
func TestCase101CutOffSummaryIsRetriedThenRefused(t *testing.T) {
	t.Parallel()
	cut := reply{deltas: []string{good}, answer: llm.Answer{Text: good, CutOff: true}}
	r := summarize(t, small, asking(summarizers.History, "hello"), cut)
	requireCheck(t, summarizers.CheckCutOff, r.err)
	require.Len(t, r.sent, 2)
	require.Equal(t, uint32(1_500), r.sent[0].MaxOutputTokens)
	require.Equal(t, uint32(3_000), r.sent[1].MaxOutputTokens)
	require.NotContains(t, r.sent[0].User, "output limit")
	require.Contains(t, r.sent[1].User, "output limit")

	r = summarize(t, small, asking(summarizers.History, "hello"), cut, says(good))
	require.NoError(t, r.err)
	require.Equal(t, good, r.summary.Text)
	require.Equal(t, 1, r.voided)

	terse := small
	terse.MaxOutput = 2_000
	r = summarize(t, terse, asking(summarizers.History, "hello"), cut)
	requireCheck(t, summarizers.CheckCutOff, r.err)
	require.Equal(t, uint32(2_000), r.sent[1].MaxOutputTokens, "no more than the model can write")
}

func TestCase102OnlyThinkingIsEmpty(t *testing.T) {
	t.Parallel()
	r := summarize(t, small, asking(summarizers.History, "hello"), says("<think>\nWhat did they ", "want?\n</think>\n"))
	requireCheck(t, summarizers.CheckEmpty, r.err)
	require.Len(t, r.sent, 2)
}

// Thinking in the text is neither streamed nor a part of the summary that is checked and stored.
func TestCase103ThinkingIsNotStored(t *testing.T) {
	t.Parallel()
	thinking := "<think>\n" + strings.Repeat("Hm. ", 2_000) + "\n</think>\n"
	r := summarize(t, small, asking(summarizers.History, "hello"), says(thinking, good))
	require.NoError(t, r.err)
	require.Equal(t, good, r.shown)
	require.Equal(t, good, r.summary.Text)
	require.Zero(t, r.voided)
}

func TestCase104WhatPassesIsTriedAgain(t *testing.T) {
	t.Parallel()
	for name, failure := range map[string]*summarizers.ProviderError{
		"408":        status(408),
		"409":        status(409),
		"429":        status(429),
		"500":        status(500),
		"502":        status(502),
		"503":        status(503),
		"504":        status(504),
		"connection": {Retryable: true, Err: io.ErrUnexpectedEOF},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			broken := reply{deltas: []string{"## Goal"}, err: failure}
			r := summarize(t, small, asking(summarizers.History, "hello"), broken, broken, broken, says(good))
			require.NoError(t, r.err)
			require.Len(t, r.sent, 4)
			require.Len(t, r.waits, 3)
			require.Equal(t, 3, r.voided)

			r = summarize(t, small, asking(summarizers.History, "hello"), broken)
			require.Same(t, failure, requireProviderError(t, r.err))
			require.Len(t, r.sent, 4)
			require.Empty(t, r.summary.Text)
		})
	}
	t.Run("empty response", func(t *testing.T) {
		t.Parallel()
		r := summarize(t, small, asking(summarizers.History, "hello"), says(""), says(good))
		require.NoError(t, r.err)
		require.Len(t, r.sent, 2)
	})
	for _, code := range []int{400, 401, 402, 403, 404, 413, 422} {
		r := summarize(t, small, asking(summarizers.History, "hello"), fails(status(code)))
		require.Equal(t, code, requireProviderError(t, r.err).Status)
		require.Len(t, r.sent, 1, code)
	}
}

// A prompt is halved three times; after that the overflow is final.
func TestCase105OverflowOfTheSummarizerHalves(t *testing.T) {
	t.Parallel()
	e := overflow()
	e.Retryable = true
	r := summarize(t, small, asking(summarizers.History, long(30)...), fails(e))
	require.True(t, requireProviderError(t, r.err).Overflow)
	require.Len(t, r.sent, 4)
	for i := 1; i < 4; i++ {
		before, after := count(r.sent[i-1].User), count(r.sent[i].User)
		require.Less(t, after, before*3/4, "send %d", i)
	}
	require.Empty(t, r.waits, "an overflow does not pass by waiting")

	// If the half does not overflow, the fold continues and reads everything.
	r = summarize(t, small, asking(summarizers.History, long(30)...), fails(overflow()), says(good))
	require.NoError(t, r.err)
	require.GreaterOrEqual(t, len(r.sent), 3)
	requireAllRead(t, r, asking(summarizers.History, long(30)...))
}

func requireAllRead(t *testing.T, r *run, req *summarizers.Request) {
	t.Helper()
	var total uint32
	for _, m := range req.Messages {
		total += m.GetTokens()
	}
	require.Equal(t, total, r.reads[len(r.reads)-1])
}

// The budgets are those of the plan: 0.8 and 0.5 of a reserve of 16,384. A model may write half as many tokens again.
// If it cannot, its prompt names a lower budget.
func TestCase107OutputBudgets(t *testing.T) {
	t.Parallel()
	wide := llm.Profile{Name: "wide", Window: 200_000, MaxOutput: 64_000}
	for _, c := range []struct {
		name    string
		profile llm.Profile
		kind    summarizers.Kind
		budget  uint32
		output  uint32
	}{
		{"history", wide, summarizers.History, 13_107, 19_661},
		{"turn prefix", wide, summarizers.TurnPrefix, 8_192, 12_288},
		{"klaude, at the least", wide, summarizers.History, 1_024, 1_536},
		{"output limit", llm.Profile{Window: 200_000, MaxOutput: 8_192}, summarizers.History, 13_107, 8_192},
		{"a quarter of the window", llm.Profile{Window: 32_000}, summarizers.History, 13_107, 8_000},
		{"with thinking", llm.Profile{Window: 200_000, MaxOutput: 64_000, Effort: "high"}, summarizers.History, 13_107, 36_045},
		{"with a budget of thinking", llm.Profile{Window: 200_000, Effort: "1000"}, summarizers.History, 13_107, 20_661},
		{"with thinking turned off", llm.Profile{Window: 200_000, Effort: "0"}, summarizers.History, 13_107, 19_661},
		{"a prefix by a model that thinks", llm.Profile{Window: 200_000, Effort: "high"}, summarizers.TurnPrefix, 8_192, 20_480},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			req := asking(c.kind, "hello")
			req.MaxTokens = c.budget
			r := summarize(t, c.profile, req, says(summaryOf(c.kind, "- done")))
			require.NoError(t, r.err)
			require.Equal(t, c.output, r.sent[0].MaxOutputTokens)
		})
	}
}

func TestCase108EffortForTheHistoryOnly(t *testing.T) {
	t.Parallel()
	thinking := llm.Profile{Name: "thinking", Window: 200_000, Effort: "high"}
	for kind, want := range map[summarizers.Kind]string{
		summarizers.History: "high", summarizers.TurnPrefix: "", summarizers.Observation: "",
	} {
		r := summarize(t, thinking, asking(kind, "hello"), says(summaryOf(kind, "- done")+"done"))
		require.NoError(t, r.err)
		require.Equal(t, want, r.sent[0].Effort)
		r = summarize(t, small, asking(kind, "hello"), says(summaryOf(kind, "- done")+"done"))
		require.NoError(t, r.err)
		require.Empty(t, r.sent[0].Effort)
	}
}

// A thinking budget is lowered to the space for it, so that the answer keeps its own.
func TestBudgetOfThinkingIsLowered(t *testing.T) {
	t.Parallel()
	for effort, want := range map[string]string{"4000": "4000", "90000": "10000", "0": "0", "-1": "-1", "high": "high"} {
		thinking := llm.Profile{Window: 200_000, MaxOutput: 20_000, Effort: effort}
		req := asking(summarizers.History, "hello")
		req.MaxTokens = 13_107
		r := summarize(t, thinking, req, says(good))
		require.NoError(t, r.err)
		require.Equal(t, want, r.sent[0].Effort)
		require.LessOrEqual(t, r.sent[0].MaxOutputTokens, uint32(20_000))
	}
}
