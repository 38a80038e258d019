package aimock_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/e2e/daemontest"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/llm"
	"github.com/compactord/compactord/summarizers/llm/llmtest"
)

// One compaction with each provider, through a daemon.
func TestCompactionsAgainstTheMock(t *testing.T) {
	summary := llmtest.Written{
		Sections: session.StandardSections(), Lines: []string{"Written by the mock."},
	}.Of(&llmtest.Request{})
	m := start(t, answering("</conversation>", object{"content": summary}))
	var models []summarizers.Summarizer
	for _, p := range llmtest.Protocols() {
		models = append(models, llm.New(llm.Profile{
			Name: p.String(), Kind: daemontest.Kind(p), Model: daemontest.ModelName, Window: 100_000, MaxOutput: 8_000,
		}, daemontest.Provider(t, p, m.server(p))))
	}
	d := daemontest.Start(t, daemontest.Options{Summarizers: models})
	for _, p := range llmtest.Protocols() {
		t.Run(p.String(), func(t *testing.T) {
			before := len(m.journal())
			policy := daemontest.By(p.String(), compactordv1.SummaryFallback_SUMMARY_FALLBACK_FAIL, 500)
			policy.GetStrategy().GetSummarize().SplitTurn = compactordv1.SplitTurn_SPLIT_TURN_OFF.Enum()
			d.Create(p.String(), policy, daemontest.Working(8, 500)...)
			events, err := d.Compact(t.Context(), daemontest.Request(p.String()))
			require.NoError(t, err)
			entry := events[len(events)-1].GetCompleted().GetCompaction()
			require.Contains(t, entry.GetSummary(), "Written by the mock.")
			provenance := entry.GetProvenance()
			require.Equal(t, p.String(), provenance.GetSummarizer())
			require.EqualValues(t, 1, provenance.GetSummarizerCalls())
			require.Equal(t, compactordv1.SummaryFallback_SUMMARY_FALLBACK_UNSPECIFIED, provenance.GetFallback())
			attempts := attemptsIn(events)
			require.Equal(t, summary, attempts[1])
			require.Equal(t, entry.GetSummary(), attempts[slices.Max(slices.Collect(maps.Keys(attempts)))])

			asked := m.journal()[before:]
			require.Len(t, asked, 1)
			require.Equal(t, paths[p], strings.TrimSuffix(asked[0].Path, "?alt=sse"))
			messages := asked[0].Body.Messages
			require.Contains(t, messages[len(messages)-1].Content, daemontest.Mark(1))
			require.Contains(t, d.View(p.String())[1].String(), "Written by the mock.")
		})
	}
}

// attemptsIn returns the text of each attempt at the summary.
func attemptsIn(events []*compactordv1.CompactionEvent) map[uint32]string {
	attempts := map[uint32]string{}
	for _, event := range events {
		if delta := event.GetSummaryDelta(); delta != nil {
			attempts[delta.GetAttempt()] += delta.GetText()
		}
	}
	return attempts
}
