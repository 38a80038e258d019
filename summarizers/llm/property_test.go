package llm_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/sessiontest"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/llm"
)

// Whatever the model does, reports on it are true, no request is larger than the window, and no unsuitable text becomes
// the summary.
func TestWhateverTheModelDoes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]summarizers.Kind{summarizers.History, summarizers.TurnPrefix, summarizers.Observation, summarizers.Range}).Draw(t, "kind")
		profile := llm.Profile{
			Window:    rapid.SampledFrom([]uint32{4_096, 8_192, 16_000}).Draw(t, "window"),
			MaxOutput: rapid.SampledFrom([]uint32{0, 500, 4_000}).Draw(t, "output"),
			Effort:    rapid.SampledFrom([]string{"", "low"}).Draw(t, "effort"),
			Tries:     rapid.IntRange(1, 5).Draw(t, "tries"),
		}
		texts := long(rapid.SampledFrom([]int{1, 5, 12, 30}).Draw(t, "messages"))
		req := asking(kind, texts...)
		if rapid.Bool().Draw(t, "on the agent's own prompt") {
			req.View = onAgentsPrompt(kind, strings.Join(texts, "\n")).View
		}
		if kind != summarizers.Observation {
			req.Sections = sessiontest.Sections(t)
		}
		m := &model{}
		m.answers = func(*llm.Completion) reply { return anyReply(kind, req.Sections).Draw(t, "reply") }
		r := summarizeBy(t.Context(), t, profile, req, m)

		require.NotNil(t, r.summary)
		requireWithin(t, profile, withoutView(r.sent))
		requireTries(t, profile.Tries, r)
		if r.err == nil {
			require.NoError(t, summarizers.Check(req, r.summary))
			require.False(t, summarizers.SaysNothing(r.summary.Text))
			if total := totalOf(req); total > 0 {
				require.Equal(t, total, r.reads[len(r.reads)-1])
			}
			require.Equal(t, r.summary.CachedPrefix, r.sent[len(r.sent)-1].View != nil)
			return
		}
		require.Empty(t, r.summary.Text)
		var refused *summarizers.CheckError
		var failure *summarizers.ProviderError
		require.True(t, errors.As(r.err, &refused) || errors.As(r.err, &failure), "%v", r.err)
	})
}

func anyReply(kind summarizers.Kind, sections []*compactordv1.Section) *rapid.Generator[reply] {
	text := summaryUnder(summarizers.Headings(kind, sections), "- The parser reads line by line [#1]")
	if kind == summarizers.Observation {
		text = "It reads line by line."
	}
	thinking := "<think>\nhm\n</think>\n" + text
	slow := status(429)
	slow.RetryAfter = 40 * time.Second
	replies := []reply{
		says(text[:5], text[5:]), says(thinking),
		// The answer has more text than was streamed.
		{deltas: []string{text[:9]}, answer: llm.Answer{Text: text}},
		says(""), says("no"), says(strings.Repeat(text, 30)),
		{deltas: []string{"half"}, answer: llm.Answer{Text: "half", CutOff: true}},
		{answer: llm.Answer{ToolCall: true}},
		{answer: llm.Answer{Refused: true}},
		fails(status(400)), fails(status(401)), fails(status(503)), fails(slow), fails(overflow()), fails(overflow()),
		{deltas: []string{text[:12]}, err: status(500)},
		{err: errStopped},
	}
	return rapid.Custom(func(t *rapid.T) reply {
		// A fold needs many answers, and most must be good for it to finish.
		r := says(text)
		if rapid.IntRange(0, 2).Draw(t, "fault") == 0 {
			r = rapid.SampledFrom(replies).Draw(t, "of")
		}
		if rapid.Bool().Draw(t, "told") {
			r = using(r, &compactordv1.Usage{InputTokens: 24, OutputTokens: 2})
		}
		return r
	})
}

// requireTries checks that nothing was sent more often than the profile allows.
func requireTries(t require.TestingT, tries int, r *run) {
	same := 0
	for i, c := range r.sent {
		if i == 0 || c.User != r.sent[i-1].User {
			same = 0
		}
		same++
		require.LessOrEqual(t, same, tries, "send %d", i)
	}
	for _, wait := range r.waits {
		require.Positive(t, wait)
	}
}

func withoutView(sent []llm.Completion) []llm.Completion {
	return slices.DeleteFunc(slices.Clone(sent), func(c llm.Completion) bool { return c.View != nil })
}

func totalOf(req *summarizers.Request) uint32 {
	var total uint32
	for _, m := range req.Messages {
		total += m.GetTokens()
	}
	return total
}
