package service

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
)

// A store that is slow, or a summarizer that does not listen, may keep a compaction from noticing a cancel until the
// deadline has passed.
func TestCancelThatIsNoticedAfterTheDeadlineIsACancel(t *testing.T) {
	for end, test := range map[string]struct {
		left time.Duration
		want error
	}{
		"cancelled":   {time.Minute, context.Canceled},
		"at deadline": {0, errCallDeadline},
	} {
		t.Run(end, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			deadline, _ := ctx.Deadline()
			var asked atomic.Int32
			clock := func() time.Time {
				return deadline.Add([]time.Duration{-time.Hour, -test.left, time.Minute}[min(asked.Add(1)-1, 2)])
			}
			called := arriving(ctx, clock).in(ctx)
			require.NoError(t, endOf(called))
			cancel()
			for range 3 {
				require.Equal(t, test.want, endOf(called), "however late it is asked")
			}
		})
	}
}

// The daemon's own limit for unary calls is told from the deadline of the client.
func TestLimitOfTheDaemonIsNotTheClients(t *testing.T) {
	for whose, test := range map[string]struct{ client, daemon time.Duration }{
		"daemon": {time.Hour, -1},
		"call":   {-1, time.Hour},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), test.client)
		limited := capDeadline(func(any) time.Duration { return test.daemon })
		_, err := limited(ctx, nil, nil, func(ctx context.Context, _ any) (any, error) {
			<-ctx.Done()
			return nil, endOf(ctx)
		})
		cancel()
		e := asError(err, "")
		require.Equal(t, codes.DeadlineExceeded, e.Code)
		require.Equal(t, map[string]string{"deadline": whose}, e.Metadata)
	}
}

// A client that leaves shortly before its deadline has waited for it; one that had more time left has cancelled.
func TestWhoLeavesShortlyBeforeTheDeadlineHasGivenUp(t *testing.T) {
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
