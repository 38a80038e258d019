package service_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/service/admission"
	"github.com/compactord/compactord/summarizers"
)

// fullAt is how many small compactions fill the pool of a daemon with one core.
const fullAt = admission.WholeCore

// oneCore lets only so much work run as on one core, and so many calls wait.
func oneCore(waiting int) option {
	return func(o *service.ServerOptions) { o.Admission = admission.Options{Cores: 1, MaxWaiting: waiting} }
}

// crowded is a daemon whose pool of compactions is full. Further ones are held at the same place until they are
// released.
type crowded struct {
	*daemon

	reached chan struct{}
	release func()
	running sync.WaitGroup
}

func crowd(t *testing.T, waiting int) *crowded {
	t.Helper()
	c := &crowded{reached: make(chan struct{}, 2*fullAt)}
	released := make(chan struct{})
	c.release = sync.OnceFunc(func() { close(released) })
	c.daemon = start(t, oneCore(waiting), withHooks(service.Hooks{BeforePlan: func(context.Context) {
		c.reached <- struct{}{}
		<-released
	}}))
	t.Cleanup(c.running.Wait)
	t.Cleanup(c.release)
	for i := range fullAt {
		id := fmt.Sprintf("running-%d", i)
		c.fill(id)
		c.running.Go(func() {
			events, err := c.compactCtx(context.WithoutCancel(t.Context()), compactRequest(id, nil))
			assert.NotEmpty(t, events, "%v", err)
		})
		<-c.reached
	}
	return c
}

func (c *crowded) fill(id string) {
	c.t.Helper()
	c.create(id, small(1000))
	c.append(id, working(10, 2000)...)
}

// waiting starts a compaction that waits, and returns after its first event, which is the heartbeat.
func (c *crowded) waiting(ctx context.Context, id string) compactordv1.CompactionService_CompactClient {
	c.t.Helper()
	stream, err := c.compactions.Compact(ctx, compactRequest(id, nil))
	require.NoError(c.t, err)
	answer, err := stream.Recv()
	require.NoError(c.t, err)
	require.NotNil(c.t, answer.GetEvent().GetHeartbeat())
	return stream
}

// A compaction waits while others keep the pool full, and its client knows. Appends and small reads do not wait.
func TestSmallCallsPassWaitingCompactions(t *testing.T) {
	t.Parallel()
	c := crowd(t, 9)
	c.fill("s")
	stream := c.waiting(t.Context(), "s")
	c.append("s", user("I do not wait"))
	require.NotEmpty(t, c.view("s"))
	hits, _ := c.search(searchWords("wait"))
	require.NotEmpty(t, hits, "a search has a pool of its own")
	require.Empty(t, c.reached)
	c.release()
	for {
		answer, err := stream.Recv()
		require.NoError(t, err)
		if answer.GetEvent().GetCompleted() != nil {
			break
		}
	}
}

// Past the bound a compaction is refused and leaves no trace, so that a repetition finds the session as it was.
func TestTooManyCompactionsWait(t *testing.T) {
	t.Parallel()
	c := crowd(t, 1)
	c.fill("waits")
	stream := c.waiting(t.Context(), "waits")
	c.fill("s")
	before := c.session("s").GetSession()
	events, err := c.compact(compactRequest("s", nil))
	require.Empty(t, events)
	info := requireReason(t, err, codes.ResourceExhausted, "TOO_MANY_WAITING")
	require.Equal(t, "compactions", info.GetMetadata()["pool"])
	require.True(t, tellsWhenToComeAgain(err))
	require.Equal(t, before.GetPoint(), c.session("s").GetSession().GetPoint())
	_, err = c.compactions.PlanCompaction(t.Context(), &compactordv1.PlanCompactionRequest{SessionId: "s"})
	requireReason(t, err, codes.ResourceExhausted, "TOO_MANY_WAITING")

	// One that gives up makes place for another.
	_, err = c.compactions.CancelCompaction(t.Context(), &compactordv1.CancelCompactionRequest{SessionId: "waits"})
	require.NoError(t, err)
	for err = nil; err == nil; {
		_, err = stream.Recv()
	}
	requireReason(t, err, codes.Canceled, "CANCELLED")
	c.waiting(t.Context(), "s")
	c.release()
}

// While models write, other compactions work in their place.
func TestModelsAreNotWaitedForInThePool(t *testing.T) {
	t.Parallel()
	asked, answer := make(chan struct{}), make(chan struct{})
	d := start(t, oneCore(0), withSummarizer(&scripted{name: "model", do: func(
		ctx context.Context, req *summarizers.Request, p summarizers.Progress,
	) (*summarizers.Summary, error) {
		asked <- struct{}{}
		<-answer
		return faithful(ctx, req, p)
	}}))
	var all sync.WaitGroup
	for i := range 3 * fullAt {
		id := fmt.Sprintf("s-%d", i)
		d.create(id, by("model", noFallback, small(1000)))
		d.append(id, working(10, 2000)...)
		all.Go(func() {
			events, err := d.compactCtx(context.WithoutCancel(t.Context()), compactRequest(id, nil))
			assert.NotEmpty(t, events, "%v", err)
		})
	}
	for range 3 * fullAt {
		<-asked
	}
	close(answer)
	all.Wait()
}
