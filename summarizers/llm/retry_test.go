package llm_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/llm"
)

func TestWaitsGrow(t *testing.T) {
	t.Parallel()
	patient := small
	patient.Tries = 10
	r := summarize(t, patient, asking(summarizers.History, "hello"), fails(status(503)))
	require.Equal(t, 503, requireProviderError(t, r.err).Status)
	require.Len(t, r.sent, 10)
	require.Len(t, r.waits, 9)
	base := 500 * time.Millisecond
	for i, wait := range r.waits {
		require.GreaterOrEqual(t, wait, base/2, "wait %d", i)
		require.LessOrEqual(t, wait, min(base*3/2, 30*time.Second), "wait %d", i)
		base = min(2*base, 30*time.Second)
	}
}

func TestTriesAreTheProfiles(t *testing.T) {
	t.Parallel()
	for tries, want := range map[int]int{0: 4, 1: 1, 2: 2, 10: 10, 1_000: 10} {
		profile := small
		profile.Tries = tries
		r := summarize(t, profile, asking(summarizers.History, "hello"), fails(status(500)))
		require.Error(t, r.err)
		require.Len(t, r.sent, want, "tries %d", tries)
	}
}

// The provider's wait is used if it is longer than ours, however long it is.
func TestRetryAfterIsHonoured(t *testing.T) {
	t.Parallel()
	later := func(d time.Duration) reply {
		e := status(429)
		e.RetryAfter = d
		return fails(e)
	}
	r := summarize(t, small, asking(summarizers.History, "hello"), later(90*time.Second), later(time.Millisecond), says(good))
	require.NoError(t, r.err)
	require.Equal(t, 90*time.Second, r.waits[0])
	require.GreaterOrEqual(t, r.waits[1], 500*time.Millisecond, "ours is longer")
}

// If the wait would exceed the time limit, the request fails at once, so that the caller can say when to come back.
func TestRetryAfterBeyondTheDeadlineIsFinal(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	e := status(429)
	e.RetryAfter = 2 * time.Hour
	r := summarizeBy(ctx, t, small, asking(summarizers.History, "hello"), &model{script: []reply{fails(e)}})
	require.Equal(t, 2*time.Hour, requireProviderError(t, r.err).RetryAfter)
	require.Len(t, r.sent, 1)
	require.Empty(t, r.waits)
}

func TestTryLimitIsForEachRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		req := asking(summarizers.History, "hello")
		req.TryTimeout = 3 * time.Second
		start := time.Now()
		r := summarize(t, small, req, reply{deltas: []string{"## Go"}, hangs: true}, says(good))
		require.NoError(t, r.err)
		require.Len(t, r.sent, 2)
		require.Equal(t, 1, r.voided)
		require.Equal(t, 3*time.Second, time.Since(start))

		r = summarize(t, small, req, reply{hangs: true})
		failure := requireProviderError(t, r.err)
		require.Equal(t, "timeout", failure.Code)
		require.True(t, failure.Retryable)
		require.ErrorIs(t, r.err, context.DeadlineExceeded)
		var passed *summarizers.TimeLimitError
		require.ErrorAs(t, r.err, &passed)
		require.Equal(t, 3*time.Second, passed.Limit)
		require.Len(t, r.sent, 4)

		ofProfile := small
		ofProfile.TryTimeout = time.Second
		req.TryTimeout = 0
		start = time.Now()
		r = summarize(t, ofProfile, req, reply{hangs: true}, says(good))
		require.NoError(t, r.err)
		require.Equal(t, time.Second, time.Since(start))
	})
}

func TestEndOfTheContext(t *testing.T) {
	t.Parallel()
	t.Run("before", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errStopped)
		r := summarizeBy(ctx, t, small, asking(summarizers.History, "hello"), &model{script: []reply{says(good)}})
		require.Equal(t, errStopped, r.err)
		require.Empty(t, r.sent)
	})
	t.Run("in a request", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancelCause(t.Context())
		m := &model{script: []reply{{deltas: []string{"## Goal"}, hangs: true, meanwhile: func() { cancel(errStopped) }}}}
		r := summarizeBy(ctx, t, small, asking(summarizers.History, "hello"), m)
		require.Equal(t, errStopped, r.err, "the cause itself, and no failure of the provider")
		require.Len(t, r.sent, 1)
		require.Empty(t, r.summary.Text)
	})
	t.Run("with an answer", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancelCause(t.Context())
		refused := says("no")
		refused.meanwhile = func() { cancel(errStopped) }
		r := summarizeBy(ctx, t, small, asking(summarizers.History, "hello"), &model{script: []reply{refused}})
		require.Equal(t, errStopped, r.err, "the cause itself, and no failure of the provider")
		require.Len(t, r.sent, 1)
	})
	t.Run("in a wait", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancelCause(t.Context())
		m := &model{script: []reply{fails(status(503))}}
		never := func(time.Duration) <-chan time.Time {
			cancel(errStopped)
			return nil
		}
		summary, err := llm.New(small, m, llm.WithTimer(never)).
			Summarize(ctx, asking(summarizers.History, "hello"), &listener{t: t})
		require.Equal(t, errStopped, err)
		require.Equal(t, uint32(1), summary.Calls)
	})
	t.Run("at its deadline", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			r := summarizeBy(ctx, t, small, asking(summarizers.History, "hello"), &model{script: []reply{{hangs: true}}})
			require.ErrorIs(t, r.err, context.DeadlineExceeded)
			require.Len(t, r.sent, 1)
		})
	})
}

// An error that is no ProviderError is final, and a missing answer is an empty one.
func TestProvidersThatBreakTheirWord(t *testing.T) {
	t.Parallel()
	r := summarize(t, small, asking(summarizers.History, "hello"), reply{err: errStopped})
	require.ErrorIs(t, r.err, errStopped)
	require.False(t, requireProviderError(t, r.err).Retryable)
	require.Len(t, r.sent, 1)

	summary, err := llm.New(small, silent{&model{}}).Summarize(t.Context(), asking(summarizers.History, "hello"), &listener{t: t})
	requireCheck(t, summarizers.CheckEmpty, err)
	require.Equal(t, uint32(2), summary.Calls)
}

type silent struct{ *model }

func (silent) Complete(context.Context, *llm.Completion, func(string)) (*llm.Answer, error) {
	return nil, nil
}
