package faults_test

import (
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/e2e/daemontest"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/summarizers/extractive"
	"github.com/compactord/compactord/summarizers/llm/llmtest"
)

// requireProgress requires that progress never falls within a stage, and reaches its total in each.
func requireProgress(t *testing.T, events []*compactordv1.CompactionEvent) {
	t.Helper()
	stages := map[compactordv1.CompactionStage]*compactordv1.CompactionProgress{}
	for _, event := range events {
		now := event.GetProgress()
		if now == nil {
			continue
		}
		if before := stages[now.GetStage()]; before != nil {
			require.GreaterOrEqual(t, now.GetDone(), before.GetDone())
			require.Equal(t, before.GetTotal(), now.GetTotal())
		}
		stages[now.GetStage()] = now
	}
	require.Len(t, stages, 4)
	for _, now := range stages {
		require.Positive(t, now.GetTotal())
		require.Equal(t, now.GetTotal(), now.GetDone(), now.GetStage())
	}
}

// reportedWhenCut is how many output tokens a provider has reported when the connection breaks.
var reportedWhenCut = map[llmtest.Protocol]int{llmtest.Messages: 1, llmtest.Gemini: int(llmtest.DefaultUsage.Output)}

// A fold whose model fails in between ends with one summary. The streamed text of the last attempt is the stored
// summary.
func TestFoldedWithFaultsInBetween(t *testing.T) {
	t.Parallel()
	for _, p := range llmtest.Protocols() {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			m := newModel(t, p, func(profile *profileOf, _ *daemontest.Server) { profile.Window = 6_000 })
			written := llmtest.Summary(llmtest.Written{Echo: regexp.MustCompile(`never-forget-\d+`)})
			faults := []llmtest.Reply{
				llmtest.Cut(half), written, llmtest.Status(http.StatusServiceUnavailable), llmtest.Text("No sections."), written,
			}
			m.server.Handle(func(req *llmtest.Request) llmtest.Reply {
				if req.Number < len(faults) {
					return faults[req.Number]
				}
				return written
			})
			d := daemontest.Start(t, daemontest.Options{Summarizers: summarizersOf(m)})
			messages := daemontest.Working(40, 900)
			messages[1].GetParts()[0].GetText().Text += " never-forget-17"
			d.Create("s", policy(m.Name(), noFallback), messages...)
			events, err := d.Compact(t.Context(), daemontest.Request("s"))
			require.NoError(t, err)
			requireProgress(t, events)
			entry := ending(events).GetCompleted().GetCompaction()
			requests := m.server.Requests()
			require.Greater(t, len(requests), len(faults)+1, "it was folded")
			provenance := entry.GetProvenance()
			require.EqualValues(t, len(requests), provenance.GetSummarizerCalls())
			final := requests[len(requests)-1].Wrote()
			require.Contains(t, final, "never-forget-17", "it went from answer to answer")
			require.Equal(t, entry.GetSummary(), lastAttempt(events))
			require.Equal(t, "## Goal\n- The work goes on.\n\n## Constraints & Preferences\n- never-forget-17", strings.TrimSpace(extractive.WithoutQuotes(entry.GetSummary(), nil)))
			require.Equal(t, m.Name(), provenance.GetSummarizer())
			require.Equal(t, daemontest.ModelName, provenance.GetModel())
			whole := (len(requests) - 2) * int(llmtest.DefaultUsage.Output)
			require.EqualValues(t, whole+reportedWhenCut[p], provenance.GetUsage().GetOutputTokens(), "the refused answer's too")
			require.Len(t, m.waited(), 2)
		})
	}
}

// Text is streamed while the model writes.
func TestTextIsSeenAsItIsWritten(t *testing.T) {
	t.Parallel()
	for _, p := range llmtest.Protocols() {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			m := newModel(t, p, nil)
			slow := make(chan string)
			m.server.Script(llmtest.Slow(slow))
			d := daemontest.Start(t, daemontest.Options{Summarizers: summarizersOf(m)})
			d.Create("s", policy(m.Name(), noFallback), daemontest.Working(8, 500)...)
			stream, err := d.Compactions.Compact(t.Context(), daemontest.Request("s"))
			require.NoError(t, err)
			m.server.Await(0)
			summary := llmtest.Written{Sections: session.StandardSections()}.Of(&llmtest.Request{})
			middle := len(summary) / 2
			seen := ""
			for _, piece := range []string{summary[:middle], summary[middle:]} {
				slow <- piece
				for before := seen; seen != before+piece; {
					answer, err := stream.Recv()
					require.NoError(t, err)
					seen += answer.GetEvent().GetSummaryDelta().GetText()
					require.Nil(t, answer.GetEvent().GetCompleted())
				}
			}
			close(slow)
			for answer := (*compactordv1.CompactResponse)(nil); answer.GetEvent().GetCompleted() == nil; {
				answer, err = stream.Recv()
				require.NoError(t, err)
			}
			require.Equal(t, summary, seen)
		})
	}
}

// A split turn makes two parallel requests, the second for the turn's first part. The streamed text of both is the
// summary.
func TestSplitTurnIsTwoRequests(t *testing.T) {
	t.Parallel()
	for _, p := range llmtest.Protocols() {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			m := newModel(t, p, nil)
			messages := daemontest.Working(3, 500)
			split := len(messages) - 4
			var broken atomic.Bool
			m.server.Handle(func(req *llmtest.Request) llmtest.Reply {
				if ofTurn(req) && broken.CompareAndSwap(false, true) {
					return llmtest.StreamError(half)
				}
				return llmtest.Summary(llmtest.Written{})
			})
			d := daemontest.Start(t, daemontest.Options{Summarizers: summarizersOf(m)})
			d.Create("s", daemontest.By(m.Name(), noFallback, 20), messages...)
			events, err := d.Compact(t.Context(), daemontest.Request("s"))
			require.NoError(t, err)
			requireProgress(t, events)
			entry := ending(events).GetCompleted().GetCompaction()
			require.EqualValues(t, split, entry.GetSplitTurnStart())
			require.EqualValues(t, 3, entry.GetProvenance().GetSummarizerCalls())
			require.Len(t, m.server.Requests(), 3)
			var history, turn *llmtest.Request
			for _, req := range m.server.Requests() {
				if ofTurn(req) {
					turn = req
				} else {
					history = req
				}
			}
			require.Contains(t, history.User, daemontest.Mark(1))
			require.NotContains(t, history.User, daemontest.Mark(split))
			require.Contains(t, turn.User, daemontest.Mark(split))
			require.Contains(t, turn.Wrote(), "## Original Request")
			require.True(t, strings.HasPrefix(entry.GetSummary(), "## Goal\n- The work goes on."), entry.GetSummary())
			require.Contains(t, entry.GetSummary(), "\n## Original Request\n- The work goes on.")
			require.Equal(t, entry.GetSummary(), lastAttempt(events))
		})
	}
}

// ofTurn says whether a request is for the first part of a turn.
func ofTurn(req *llmtest.Request) bool { return strings.Contains(req.User, "## Original Request") }
