package requests

import (
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
)

// limitIn returns the limit that an error names.
func limitIn(t testing.TB, err error) string {
	t.Helper()
	var refused *apierror.Error
	require.ErrorAs(t, err, &refused)
	return refused.Metadata["limit"]
}

// take reserves the memory of a request that arrives as a whole.
func (b *Budget) take(client net.Addr, bytes int64) (*share, error) {
	s, err := b.takeArriving(client, min(bytes, smallBytes), func(error) {})
	if err != nil {
		return nil, err
	}
	if err := s.arrived(bytes); err != nil {
		s.release()
		return nil, err
	}
	return s, nil
}

// Whatever requests of whatever clients come and go, neither all together nor those of one client take more than they
// may, and nothing stays reserved.
func TestBudgetHolds(t *testing.T) {
	clients := []net.Addr{&net.UnixAddr{}, &net.UnixAddr{}, &net.TCPAddr{}}
	rapid.Check(t, func(t *rapid.T) {
		const limit = 1 << 24
		b, err := NewBudget(limit, nil)
		require.NoError(t, err)
		var running []*share
		sums := make(map[net.Addr]int64)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			if len(running) > 0 && rapid.IntRange(0, 2).Draw(t, "end") == 0 {
				at := rapid.IntRange(0, len(running)-1).Draw(t, "which")
				sums[running[at].client] -= running[at].bytes
				running[at].release()
				running = append(running[:at], running[at+1:]...)
			}
			client := rapid.SampledFrom(clients).Draw(t, "client")
			bytes := rapid.Int64Range(1, limit).Draw(t, "bytes")
			taken, err := b.take(client, bytes)
			if err != nil {
				continue
			}
			running = append(running, taken)
			sums[client] += bytes
			require.LessOrEqual(t, sums[client], int64(limit/clientPart))
			require.LessOrEqual(t, sums[clients[0]]+sums[clients[1]]+sums[clients[2]], int64(limit))
		}
		for _, s := range running {
			s.release()
		}
		require.Zero(t, b.used)
		require.Empty(t, b.clients)
	})
}

// Large requests leave room for small ones, and one client for others, even where two clients have the same name.
func TestRoomForOthers(t *testing.T) {
	const limit = 1 << 30
	b, err := NewBudget(limit, nil)
	require.NoError(t, err)
	hog, other, third := &net.UnixAddr{}, &net.UnixAddr{}, &net.UnixAddr{}
	_, err = b.take(hog, limit/2)
	require.True(t, apierror.Is(err, compactordv1.ErrorReason_ERROR_REASON_LIMIT_EXCEEDED), "can never be taken")
	for range 2 {
		_, err = b.take(hog, 7*limit/32)
		require.NoError(t, err)
	}
	_, err = b.take(hog, 1<<20)
	require.True(t, apierror.Is(err, compactordv1.ErrorReason_ERROR_REASON_MEMORY_EXHAUSTED))
	require.Equal(t, limitOfClient, limitIn(t, err))
	_, err = b.take(hog, smallBytes)
	require.NoError(t, err, "small requests still run")
	_, err = b.take(other, 3*limit/8)
	require.NoError(t, err, "so do another client's")
	_, err = b.take(third, limit/8)
	require.Equal(t, limitOfAll, limitIn(t, err))
	var refused *apierror.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, retryAfter, refused.RetryAfter)
	_, err = b.take(third, smallBytes)
	require.NoError(t, err)
}

// Where a client needs room in its own part, the largest of its own requests that have stopped to arrive is ended, and
// none of another client. One that has arrived is never ended.
func TestWhichRequestGivesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const mib = 1 << 20
		b, err := NewBudget(16*mib, nil)
		require.NoError(t, err)
		var ended []string
		arriving := func(name string, client net.Addr, bytes int64) *share {
			s, err := b.takeArriving(client, bytes, func(error) { ended = append(ended, name) })
			require.NoError(t, err)
			return s
		}
		hog, other := &net.UnixAddr{}, &net.UnixAddr{}
		arriving("small", hog, 2*mib)
		arriving("large", hog, 4*mib)
		arriving("another client's", other, 6*mib)
		<-time.After(2 * stalledAfter)
		running := arriving("running", hog, 3*mib)
		require.Equal(t, []string{"large"}, ended)

		require.NoError(t, running.arrived(4*mib))
		<-time.After(2 * stalledAfter)
		arriving("last", hog, 3*mib)
		require.Equal(t, []string{"large", "small"}, ended)
		_, err = b.takeArriving(hog, 3*mib, nil)
		require.Equal(t, limitOfClient, limitIn(t, err), "what runs, and what has just begun to arrive, goes on")
	})
}

// Refusals are counted by their limit, and the gauge shows what is reserved.
func TestMetricsOfTheBudget(t *testing.T) {
	metrics := prometheus.NewRegistry()
	b, err := NewBudget(1<<20, metrics)
	require.NoError(t, err)
	shows := func(text string) {
		families, err := metrics.Gather()
		require.NoError(t, err)
		all := ""
		for _, family := range families {
			all += family.String()
		}
		// The generated texts have one or two spaces at random.
		require.Contains(t, strings.ReplaceAll(all, "  ", " "), text)
	}
	taken, err := b.take(nil, 1000)
	require.NoError(t, err)
	shows("gauge:{value:1000}")
	taken.release()
	shows("gauge:{value:0}")
	_, err = b.take(nil, 1<<20)
	require.Error(t, b.refusal(err))
	require.Error(t, b.refusal(apierror.InvalidField("messages", "is wrong")))
	shows(`label:{name:"limit" value:"max_inflight_bytes_of_client"} counter:{value:1`)
}
