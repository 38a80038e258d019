package summaries_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/durationpb"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/summaries"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive"
	"github.com/compactord/compactord/summarizers/redaction/redactiontest"
)

// A summarizer's text is checked. After a refusal it is asked once more, with the reason, unless it tries again by
// itself.
func TestTextsThatDoNotPass(t *testing.T) {
	const noSections = "They worked on the parser."
	tooLong := goal(strings.Repeat("It loops. ", 300))
	for name, c := range map[string]struct {
		texts      []string
		persistent bool
		faults     []string
		check      string
	}{
		"the first passes":               {[]string{goal("Mend it.")}, false, []string{""}, ""},
		"the second passes":              {[]string{noSections, goal("Mend it.")}, false, []string{"", "none of its sections"}, ""},
		"none passes":                    {[]string{noSections, "nothing"}, false, []string{"", "none of its sections"}, "sections"},
		"one that tries by itself fails": {[]string{noSections, goal("Mend it.")}, true, []string{""}, "sections"},
		"sections that say nothing":      {[]string{"## Goal\n(none)"}, true, []string{""}, "empty"},
		"too long":                       {[]string{tooLong, goal("Mend it.")}, false, []string{"", "at most 500"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			model := says(c.texts...)
			var by summarizers.Summarizer = model
			if c.persistent {
				by = persistent{scripted: model}
			}
			w := newWriter(t, by)
			written, err := w.Write(t.Context(), conversation())
			require.Len(t, model.requests, len(c.faults))
			for i, fault := range c.faults {
				require.Contains(t, model.requests[i].Refusal, fault)
				require.Equal(t, fault == "", model.requests[i].Refusal == "")
			}
			require.Equal(t, uint32(len(c.faults)), w.Spent().Calls, "also what is refused was paid for")
			if c.check != "" {
				require.Nil(t, written)
				var e *apierror.Error
				require.ErrorAs(t, err, &e)
				require.Equal(t, compactordv1.ErrorReason_ERROR_REASON_SUMMARY_REJECTED, e.Reason)
				require.Equal(t, c.check, e.Metadata["check"])
				require.Zero(t, w.listener.checked)
				return
			}
			require.NoError(t, err)
			require.Equal(t, goal("Mend it."), written.Text)
			require.Equal(t, goal("Mend it."), w.listener.text(), "what was shown last is what was written")
			require.Equal(t, uint32(len(c.faults)), w.listener.last)
			require.Equal(t, []string{"writer", "small"}, []string{written.Summarizer, written.Model})
			require.Equal(t, uint32(3), written.PromptVersion)
			require.Equal(t, 1, w.listener.checked)
		})
	}
}

// Where the policy has a fallback, it writes after the summarizer has failed, and the summary, the log and the metrics
// say why.
func TestFallbackWrites(t *testing.T) {
	for name, c := range map[string]struct {
		by    *scripted
		cause string
		says  string
	}{
		"a text that does not pass":   {says("They worked."), "rejected", "no summary by writer passed the checks"},
		"a provider that refuses":     {failing(&summarizers.ProviderError{Status: 400}), "refused", "HTTP status 400"},
		"a provider out of reach":     {failing(&summarizers.ProviderError{Status: 503, Retryable: true}), "unavailable", "out of reach"},
		"a failure of another kind":   {failing(errors.New("broken")), "unavailable", "summarizer writer failed"},
		"a provider that is too slow": {failing(&summarizers.ProviderError{Code: "timeout", Retryable: true}), "timeout", "did not answer"},
		"a bug": {&scripted{name: "writer", do: func(
			context.Context, *summarizers.Request, summarizers.Progress,
		) (*summarizers.Summary, error) {
			panic("Please mend the parser.")
		}}, "bug", "internal error op"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWriter(t, c.by, falling)
			written, err := w.Write(t.Context(), conversation())
			require.NoError(t, err)
			require.Equal(t, summaries.Fallback, written.Summarizer)
			require.Equal(t, compactordv1.SummaryFallback_SUMMARY_FALLBACK_EXTRACTIVE, written.Fallback)
			require.Contains(t, written.FallbackCause, c.says)
			require.Contains(t, written.Text, "mend the parser")
			require.Empty(t, written.Model)
			require.Equal(t, "writer", w.Asked())
			require.Equal(t, 100, w.counted(t)["fallbacks_total "+c.cause])
			require.Contains(t, w.log.String(), "fallback writes the summary")
			require.NotContains(t, w.log.String(), "mend the parser", "the log holds nothing of a conversation")
			require.Equal(t, written.Text, w.listener.text())

			w = newWriter(t, c.by, falling, func(op *summaries.Operation) { op.NoFallback = true })
			_, err = w.Write(t.Context(), conversation())
			var e *apierror.Error
			require.ErrorAs(t, err, &e)
			require.Contains(t, e.Message, c.says)
			require.Empty(t, w.counted(t)["fallbacks_total "+c.cause])
		})
	}
}

// The fallback does not get the reason why another text was refused, and counts its own text without secrets.
func TestFallbackGetsItsOwnRequest(t *testing.T) {
	leak := redactiontest.Credentials(1, 1)[0]
	fallback := says(goal("Mend it."))
	fallback.name = summaries.Fallback
	w := newWriterWith(t, fallback, says("They worked."), falling, redacting)
	written, err := w.Write(t.Context(), conversation())
	require.NoError(t, err)
	require.Equal(t, goal("Mend it."), written.Text)
	require.Len(t, fallback.requests, 1)
	req := fallback.requests[0]
	require.Empty(t, req.Refusal)
	require.NotEqual(t, len(leak.Text), len(w.Redact(leak.Text)))
	require.Equal(t, uint32(len(w.Redact(leak.Text))+3)/4, req.Count(leak.Text))
}

// A summary that cannot be small enough is no failure of the summarizer. A model is not even asked for it.
func TestNoGain(t *testing.T) {
	model := says(goal("Mend it."))
	for name, c := range map[string]struct {
		by       summarizers.Summarizer
		replaces uint32
	}{"of a model": {model, 64}, "of the fallback": {extractive.New(), 4}} {
		t.Run(name, func(t *testing.T) {
			w := newWriter(t, c.by, falling)
			task := conversation()
			task.MaxTokens, task.Replaces = 64, c.replaces
			_, err := w.Write(t.Context(), task)
			var noGain *summaries.NoGainError
			require.ErrorAs(t, err, &noGain)
			require.Equal(t, c.replaces, noGain.Replaces)
			require.EqualError(t, err, fmt.Sprintf("no summary is smaller than the %d tokens that it would replace", c.replaces))
			require.Empty(t, model.requests)
		})
	}
}

// A provider that no request of the operation would reach is asked once, however many texts there are.
func TestProviderOutOfReachIsAskedOnce(t *testing.T) {
	for name, c := range map[string]struct {
		failure error
		asked   int
	}{
		"out of reach":       {&summarizers.ProviderError{Status: 503, Retryable: true}, 1},
		"refuses all":        {&summarizers.ProviderError{Status: 401, RefusesAll: true}, 1},
		"refuses this one":   {&summarizers.ProviderError{Status: 400}, 2},
		"another kind of it": {errors.New("broken"), 2},
	} {
		t.Run(name, func(t *testing.T) {
			model := failing(c.failure)
			w := newWriter(t, model, falling)
			task := conversation()
			task.Prefix = talk(3, "And the lexer. "+strings.Repeat("It is slow. ", 100), "I look.")
			_, err := w.Write(t.Context(), task)
			require.NoError(t, err)
			require.Len(t, model.requests, c.asked)
			require.Equal(t, 200, w.counted(t)["fallbacks_total "+map[bool]string{true: "refused", false: "unavailable"}[name[:3] == "ref"]])
			require.LessOrEqual(t, strings.Count(w.log.String(), "summarizer failed"), 1)
			require.Equal(t, 1, strings.Count(w.log.String(), "fallback writes"))
		})
	}
}

// A summarizer that tries again by itself has the limit of all texts; others have the limit of one request for each
// try.
func TestLimits(t *testing.T) {
	for name, c := range map[string]struct {
		persistent bool
		policy     *compactordv1.SummaryPolicy
		own        [2]time.Duration
		want       time.Duration
	}{
		"by default":                      {false, nil, [2]time.Duration{}, 2 * time.Minute},
		"by default, of all":              {true, nil, [2]time.Duration{}, 10 * time.Minute},
		"of the summarizer":               {true, nil, [2]time.Duration{time.Second, time.Minute}, time.Minute},
		"of the policy":                   {true, &compactordv1.SummaryPolicy{TotalTimeout: durationpb.New(time.Hour)}, [2]time.Duration{1, 1}, time.Hour},
		"of a request of the policy":      {false, &compactordv1.SummaryPolicy{TryTimeout: durationpb.New(time.Second)}, [2]time.Duration{}, time.Second},
		"of all before that of one":       {false, &compactordv1.SummaryPolicy{TotalTimeout: durationpb.New(time.Second)}, [2]time.Duration{}, time.Second},
		"of a request, told to the model": {true, &compactordv1.SummaryPolicy{TryTimeout: durationpb.New(7)}, [2]time.Duration{5, time.Hour}, time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				model := &scripted{name: "writer", do: func(
					ctx context.Context, _ *summarizers.Request, _ summarizers.Progress,
				) (*summarizers.Summary, error) {
					<-ctx.Done()
					return nil, context.Cause(ctx)
				}}
				var by summarizers.Summarizer = model
				if c.persistent {
					by = persistent{model, c.own[0], c.own[1]}
				}
				w := newWriter(t, by, func(op *summaries.Operation) {
					op.Policy.Summary.TryTimeout = c.policy.GetTryTimeout()
					op.Policy.Summary.TotalTimeout = c.policy.GetTotalTimeout()
				})
				began := time.Now()
				_, err := w.Write(t.Context(), conversation())
				require.Equal(t, c.want, time.Since(began))
				var e *apierror.Error
				require.ErrorAs(t, err, &e)
				require.Equal(t, compactordv1.ErrorReason_ERROR_REASON_DEADLINE_EXCEEDED, e.Reason)
				require.Contains(t, e.Message, "within its time limit of "+c.want.String())
				if c.policy.GetTryTimeout() != nil {
					require.Equal(t, c.policy.GetTryTimeout().AsDuration(), model.requests[0].TryTimeout)
				}
			})
		})
	}
}

// A cancelled operation returns the cause, and no fallback writes.
func TestCancelledOperation(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	w := newWriter(t, &scripted{name: "writer", do: func(
		ctx context.Context, _ *summarizers.Request, _ summarizers.Progress,
	) (*summarizers.Summary, error) {
		cancel(apierror.ErrPreempted)
		return nil, errors.New("broken")
	}}, falling)
	_, err := w.Write(ctx, conversation())
	require.Equal(t, apierror.ErrPreempted, err)
	require.Empty(t, w.counted(t)["fallbacks_total unavailable"])
}

// Costs count for the summarizer that was asked, also where the fallback wrote. The client's costs count for the
// client.
func TestFinishCountsWhatWasSpent(t *testing.T) {
	w := newWriter(t, says("They worked.", goal("Mend it.")))
	_, err := w.Write(t.Context(), conversation())
	require.NoError(t, err)
	w.Finish()
	require.Equal(t, map[string]int{
		"summarizer_calls_total writer": 200, "summarizer_cost_usd_total writer": 50,
		"summarizer_tokens_total input writer": 20_000, "summarizer_tokens_total output writer": 2000,
		"summaries_rejected_total sections writer": 100,
	}, w.counted(t))

	w = newWriter(t, &summaries.ClientTexts{Texts: []string{goal("Mend it.")}, Model: "large"}, func(op *summaries.Operation) {
		op.Spent = summaries.Spent{Usage: &compactordv1.Usage{InputTokens: 7}, Calls: 4}
	})
	written, err := w.Write(t.Context(), conversation())
	require.NoError(t, err)
	require.Equal(t, []string{"client", "large"}, []string{written.Summarizer, written.Model})
	w.Finish()
	require.Equal(t, map[string]int{
		"summarizer_calls_total client": 400, "summarizer_tokens_total input client": 700,
	}, w.counted(t))
}

// A summarizer's retries and what it left out are logged and counted.
func TestReportsOfSummarizers(t *testing.T) {
	model := says(goal("Mend it."))
	told := model.do
	model.do = func(
		ctx context.Context, req *summarizers.Request, p summarizers.Progress,
	) (*summarizers.Summary, error) {
		s, err := told(ctx, req, p)
		s.Retries, s.Rejected, s.AsText = 2, []string{summarizers.CheckBudget}, summarizers.AsTextOverflow
		s.Faults = []summarizers.Fault{
			{Stage: summarizers.StageMessage, Index: 4, Cause: "runtime.Error", Stack: "here"}, {Stage: summarizers.StageMessage},
		}
		return s, err
	}
	w := newWriter(t, model)
	_, err := w.Write(t.Context(), conversation())
	require.NoError(t, err)
	require.Equal(t, map[string]int{
		"summarizer_retries_total writer": 200, "summaries_rejected_total budget writer": 100,
		"summarizer_faults_total writer message": 200,
	}, w.counted(t))
	require.Equal(t, 1, strings.Count(w.log.String(), "left something out by a bug"))
	require.Contains(t, w.log.String(), "stack=here")
	require.Contains(t, w.log.String(), "why=overflow")
}

// An unknown summarizer is an error before anything is asked.
func TestWriterOfAnUnknownSummarizer(t *testing.T) {
	registry, err := summarizers.NewRegistry(says(""))
	require.NoError(t, err)
	_, err = summaries.NewWriter(t.Context(), &summaries.Config{Summarizers: registry}, &summaries.Operation{
		State: &session.State{}, Policy: &compactordv1.Policy{},
	})
	require.ErrorIs(t, err, summarizers.ErrUnknown)
}
