package llm_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/llm"
)

// What users of other systems complain about most. The numbers are those of the field notes.

// requireWithin checks that every request fits the window, by the model's count.
func requireWithin(t require.TestingT, profile llm.Profile, sent []llm.Completion) {
	factor := profile.TokenFactor
	if factor == 0 {
		factor = 1
	}
	for i, c := range sent {
		prompt := float64(exactly(t, c.System)+exactly(t, c.User)) * factor
		require.LessOrEqual(t, uint32(prompt)+c.MaxOutputTokens, profile.Window, "send %d", i)
		require.GreaterOrEqual(t, c.MaxOutputTokens, uint32(96))
	}
}

// Requests of 7.9 million characters, of 3.06 million tokens, of 1.2 million characters, and of more than a smaller
// model accepts after a switch. Each is split into several requests, and none is larger than the window.
func TestComplaint22To28SummaryRequestLargerThanTheWindow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name           string
		window, tokens uint32
		least          int
	}{
		{"22 7,900,000 characters", 128_000, 1_975_000, 16},
		{"23 from a window of 1,000,000 to one of 200,000", 200_000, 700_000, 4},
		{"24 3,060,000 tokens", 200_000, 3_060_000, 16},
		{"25 input that nobody trimmed", 32_000, 200_000, 7},
		{"28 1,200,000 characters", 32_000, 300_000, 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			texts := long(200)
			// A higher token factor has the same effect as a longer text, and is faster to count.
			profile := llm.Profile{Window: c.window, MaxOutput: 8_000, TokenFactor: float64(c.tokens) / 100_000}
			req := asking(summarizers.History, texts...)
			r := summarize(t, profile, req, says(good))
			require.NoError(t, r.err)
			require.GreaterOrEqual(t, len(r.sent), c.least)
			require.Less(t, len(r.sent), 3*c.least)
			requireWithin(t, profile, r.sent)
			requireAllRead(t, r, req)
			requireAllSent(t, r, len(texts))
		})
	}
}

// requireAllSent checks that each message was part of a request.
func requireAllSent(t *testing.T, r *run, messages int) {
	t.Helper()
	var all strings.Builder
	for _, c := range r.sent {
		all.WriteString(c.User)
	}
	for i := range messages {
		require.Contains(t, all.String(), fmt.Sprintf("Message %d: ", i))
	}
}

// A summary that takes longer than its time limit ends at the limit, with an error that says so.
func TestComplaint27HungSummaryEndsAtItsLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		req := asking(summarizers.History, long(3)...)
		req.TryTimeout = 50 * time.Second
		start := time.Now()
		r := summarizeBy(ctx, t, small, req, &model{script: []reply{{deltas: []string{"## Goal"}, hangs: true}}})
		require.ErrorIs(t, r.err, context.DeadlineExceeded)
		require.Equal(t, 2*time.Minute, time.Since(start))
		require.Len(t, r.sent, 3)
		require.Empty(t, r.summary.Text)
	})
}

// A text that must not become a summary is requested once more, with the reason, and refused if it fails again.
func TestComplaint29To33DestroyedSummariesAreRefused(t *testing.T) {
	t.Parallel()
	skeleton := summaryOf(summarizers.History, summarizers.NothingBelow)
	for name, c := range map[string]struct {
		bad   reply
		check string
	}{
		"29 an empty skeleton":      {says(skeleton), summarizers.CheckEmpty},
		"29 headings alone":         {says(strings.ReplaceAll(skeleton, summarizers.NothingBelow, "") + "\n-"), summarizers.CheckEmpty},
		"30 an error for a summary": {says("API Error: 529 overloaded"), summarizers.CheckErrorText},
		"30 a placeholder":          {says("Previous conversation was too long to summarize."), summarizers.CheckSections},
		"31 a fragment":             {says("## Goal\n- Fix the parser\n\n## Constraints & Preferences\n- no new dependencies"), summarizers.CheckSections},
		"32 empty":                  {says(""), summarizers.CheckEmpty},
		"32 white space":            {says("\n\n"), summarizers.CheckEmpty},
		"33 a tool call":            {reply{answer: llm.Answer{ToolCall: true}}, summarizers.CheckToolCall},
		"33 a tool call in text":    {says("<tool_call>{\"name\":\"read\"}</tool_call>"), summarizers.CheckToolCall},
		"33 text and a tool call":   {reply{deltas: []string{good}, answer: llm.Answer{Text: good, ToolCall: true}}, summarizers.CheckToolCall},
		"a refusal":                 {reply{answer: llm.Answer{Refused: true}}, summarizers.CheckErrorText},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := summarize(t, small, asking(summarizers.History, long(4)...), c.bad)
			requireCheck(t, c.check, r.err)
			require.Len(t, r.sent, 2, "the model is asked")
			require.Empty(t, r.summary.Text)
			require.NotEqual(t, r.sent[0].User, r.sent[1].User)

			r = summarize(t, small, asking(summarizers.History, long(4)...), c.bad, says(good))
			require.NoError(t, r.err)
			require.Equal(t, good, r.summary.Text)
		})
	}
}

// The summarizer has no tools of its own. A tool call of a model without tools is still refused.
func TestComplaint33NoToolsButTheAgents(t *testing.T) {
	t.Parallel()
	r := summarize(t, small, asking(summarizers.History, "hello"), says(good))
	require.NoError(t, r.err)
	require.Nil(t, r.sent[0].View)
}

// The part of a summary before its stream broke is discarded: it is neither the summary nor the beginning of the next.
func TestComplaint35PartialSummaryIsVoid(t *testing.T) {
	t.Parallel()
	half := good[:len(good)/2]
	broken := reply{deltas: []string{half}, err: &summarizers.ProviderError{Retryable: true, Err: io.ErrUnexpectedEOF}}
	r := summarize(t, small, asking(summarizers.History, long(4)...), broken)
	require.Error(t, r.err)
	require.Empty(t, r.summary.Text)

	r = summarize(t, small, asking(summarizers.History, long(4)...), broken, says(good))
	require.NoError(t, r.err)
	require.Equal(t, good, r.summary.Text)
	require.Equal(t, good, r.shown)
	require.NotContains(t, r.sent[1].User, half)
}

// A fold only continues from complete answers, and each is checked like the last one.
func TestComplaint35PartialAnswerInAFold(t *testing.T) {
	t.Parallel()
	half := reply{deltas: []string{good[:80]}, answer: llm.Answer{Text: good[:80], CutOff: true}}
	r := summarize(t, small, asking(summarizers.History, long(120)...), says(good), half, says(good))
	require.NoError(t, r.err)
	require.Greater(t, len(r.sent), 3)
	require.Equal(t, r.sent[1].User, r.sent[2].User[:len(r.sent[1].User)], "that prompt only is sent again")
	require.Contains(t, r.sent[3].User, good)

	r = summarize(t, small, asking(summarizers.History, long(120)...), says(good), half)
	requireCheck(t, summarizers.CheckCutOff, r.err)
	require.Len(t, r.sent, 3)
}
