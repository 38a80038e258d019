package apierror

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Because of a slow store or summarizer, a compaction may notice a cancel only after the deadline has passed.
func TestCancelThatIsNoticedAfterTheDeadlineIsACancel(t *testing.T) {
	t.Parallel()
	for end, test := range map[string]struct {
		left time.Duration
		want error
	}{
		"cancelled":   {time.Minute, context.Canceled},
		"at deadline": {0, ErrCallDeadline},
	} {
		t.Run(end, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			deadline, _ := ctx.Deadline()
			var asked atomic.Int32
			clock := func() time.Time {
				return deadline.Add([]time.Duration{-time.Hour, -test.left, time.Minute}[min(asked.Add(1)-1, 2)])
			}
			called := newArrival(ctx, clock).addTo(ctx)
			require.NoError(t, EndCause(called))
			cancel()
			for range 3 {
				require.Equal(t, test.want, EndCause(called), "however late it is asked")
			}
		})
	}
}

// A client that leaves shortly before its deadline has given up; one that had more time left has cancelled.
func TestWhoLeavesShortlyBeforeTheDeadlineHasGivenUp(t *testing.T) {
	t.Parallel()
	came := time.Now()
	for _, test := range []struct {
		had, left time.Duration
		gaveUp    bool
	}{
		{time.Hour, -time.Millisecond, true},
		{time.Hour, time.Second, true},
		{time.Hour, time.Second + 1, false},
		{5 * time.Second, 500 * time.Millisecond, true},
		{5 * time.Second, 501 * time.Millisecond, false},
		{100 * time.Millisecond, 50 * time.Millisecond, true},
		{100 * time.Millisecond, 51 * time.Millisecond, false},
	} {
		a := &arrival{at: came, deadline: came.Add(test.had), ended: came.Add(test.had - test.left)}
		require.Equal(t, test.gaveUp, a.gaveUp(), "%s left of %s", test.left, test.had)
	}
}
