//go:build linux

package histories_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// The writes of a daemon fail at random moments, some of them in the middle of a page or of a header, and it is killed.
// The limit on the size of its files is what does that: it moves to and fro while clients use the sessions.
func TestHistoriesOverAFailingFile(t *testing.T) {
	t.Parallel()
	rounds := 16
	if testing.Short() {
		rounds = 4
		t.Log("4 of 16 kills: each daemon takes a moment to start")
	}
	w := newWorld(t, seed(t))
	for range rounds {
		w.untilKilled(w.limitFile)
	}
	w.last()
	refusals := 0
	for _, c := range w.history.calls {
		if c.outcome == refused && reasonOf(c.err) == "STORE_UNAVAILABLE" {
			refusals++
		}
	}
	t.Logf("%d refusals", refusals)
	require.Positive(t, refusals)
	all := w.judge()
	w.repeatAll(all)
}

// limitFile moves the limit on the size of the daemon's file now and then.
func (w *world) limitFile(d *daemon) {
	limit := uint64(unix.RLIM_INFINITY)
	switch w.random.IntN(12) {
	case 0:
		limit = 0
	case 1:
		// The headers are the first two pages.
		limit = w.random.Uint64N(2 * uint64(os.Getpagesize()))
	case 2:
		if info, err := os.Stat(w.store); err == nil {
			limit = w.random.Uint64N(uint64(info.Size()))
		}
	case 3, 4, 5:
	default:
		return
	}
	d.limited = d.limited || limit != unix.RLIM_INFINITY
	// Where the daemon has ended, there is nothing to limit.
	_ = unix.Prlimit(d.process.Process.Pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: limit, Max: unix.RLIM_INFINITY}, nil)
}
