package service_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/summarizers"
)

// chatty returns a summarizer that writes far more than all buffers can hold, and signals when it begins.
func chatty(begun chan<- struct{}) *scripted {
	first := true
	return &scripted{name: "chatty", do: func(
		ctx context.Context, req *summarizers.Request, p summarizers.Progress,
	) (*summarizers.Summary, error) {
		if first {
			first = false
			close(begun)
			for ctx.Err() == nil {
				p.Text(strings.Repeat("word ", 1000))
			}
			return nil, context.Cause(ctx)
		}
		return faithful(ctx, req, p)
	}}
}

// A client that does not read its stream delays nobody else: its compaction can be preempted.
func TestPreemptsACompactionWhoseClientDoesNotRead(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{})
	d := start(t, withSummarizer(chatty(begun)), func(o *service.ServerOptions) { o.DrainTimeout = time.Millisecond })
	d.create("s", by("chatty", noFallback, small(1000)))
	d.append("s", working(10, 2000)...)
	_, err := d.compactions.Compact(t.Context(), compactRequest("s", nil))
	require.NoError(t, err)
	<-begun
	req := compactRequest("s", nil)
	req.Preempt = true
	events, err := d.compact(req)
	require.NoError(t, err)
	require.NotNil(t, last(t, events).GetCompleted())
}

// It does not delay the stop of the daemon either.
func TestStopsThoughAClientDoesNotRead(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{})
	d := start(t, withSummarizer(chatty(begun)), func(o *service.ServerOptions) { o.DrainTimeout = time.Millisecond })
	d.create("s", by("chatty", noFallback, small(1000)))
	d.append("s", working(10, 2000)...)
	_, err := d.compactions.Compact(t.Context(), compactRequest("s", nil))
	require.NoError(t, err)
	<-begun
	d.shutdown()
	row, err := d.store.Session(t.Context(), "", "s")
	require.NoError(t, err)
	require.Equal(t, uint32(43), row.GetHead().GetNextSequence(), "one record for the policy and one for the attempt")
}

// I10: a Compact that is sent again, during the first one or after it, gets what that wrote and pays for nothing.
func TestRetriedCompactGetsTheRecordedResult(t *testing.T) {
	t.Parallel()
	reached, release := make(chan struct{}), make(chan struct{})
	held := false
	d := start(t, withHooks(service.Hooks{BeforeCommit: func(context.Context) {
		if !held {
			held = true
			close(reached)
			<-release
		}
	}}))
	d.create("s", small(1000))
	d.append("s", working(10, 2000)...)
	req := compactRequest("s", nil)
	req.RequestId = "x"
	type outcome struct {
		events []*compactordv1.CompactionEvent
		err    error
	}
	first := make(chan outcome, 1)
	go func() {
		events, err := d.compact(req)
		first <- outcome{events, err}
	}()
	<-reached
	other := &compactordv1.AppendMessagesRequest{
		SessionId: "s", Messages: []*compactordv1.Message{user("y")}, RequestId: "y",
	}
	_, err := d.sessions.AppendMessages(t.Context(), other)
	require.NoError(t, err)
	close(release)
	o := <-first
	require.NoError(t, o.err)
	want := last(t, o.events).GetCompleted().GetCompaction().GetId()
	require.NotEmpty(t, want)
	events, err := d.compact(req)
	require.NoError(t, err)
	require.Len(t, events, 1)
	require.Equal(t, want, events[0].GetCompleted().GetCompaction().GetId())

	// The id of another request is refused before anything is paid for.
	req.RequestId = "y"
	_, err = d.compact(req)
	requireReason(t, err, codes.InvalidArgument, "REQUEST_ID_REUSED")
}

// late is a store that commits a compaction just after its cancel.
type late struct {
	storage.Store
	reached chan struct{}
}

func (l *late) Commit(ctx context.Context, c *storage.Commit) error {
	if len(c.Records) == 0 || !isCompaction(c.Records[0]) {
		return l.Store.Commit(ctx, c)
	}
	close(l.reached)
	<-ctx.Done()
	return l.Store.Commit(context.WithoutCancel(ctx), c)
}

// A Compact that is sent again and preempts the first one pays nothing either, where the cancel came too late: it gets
// what the first one wrote.
func TestRetriedCompactThatPreemptsGetsTheRecordedResult(t *testing.T) {
	t.Parallel()
	disk := &late{Store: openStore(t, filepath.Join(t.TempDir(), "store.db")), reached: make(chan struct{})}
	writer := &scripted{name: "writer", do: faithful}
	d := start(t, withStore(disk), withSummarizer(writer))
	d.create("s", by("writer", noFallback, small(1000)))
	d.append("s", working(10, 2000)...)
	req := compactRequest("s", nil)
	req.RequestId, req.Preempt = "x", true
	first := make(chan []*compactordv1.CompactionEvent, 1)
	go func() {
		events, _ := d.compact(req)
		first <- events
	}()
	<-disk.reached
	paid := len(writer.seen())
	events, err := d.compact(req)
	require.NoError(t, err)
	want := last(t, <-first).GetCompleted().GetCompaction().GetId()
	require.NotEmpty(t, want)
	require.Len(t, events, 1)
	require.Equal(t, uint32(1), events[0].GetNumber())
	require.Equal(t, want, events[0].GetCompleted().GetCompaction().GetId())
	require.Len(t, writer.seen(), paid)
	completed, attempts := d.ends("s")
	require.Equal(t, 1, completed)
	require.Zero(t, attempts)
}

// A request id that another request used during the compaction: the summary is lost, and the error says why.
func TestRequestIDUsedDuringCompaction(t *testing.T) {
	t.Parallel()
	reached, release := make(chan struct{}), make(chan struct{})
	d := start(t, withHooks(service.Hooks{BeforeCommit: func(context.Context) {
		close(reached)
		<-release
	}}))
	d.create("s", small(1000))
	d.append("s", working(10, 2000)...)
	req := compactRequest("s", nil)
	req.RequestId = "x"
	first := make(chan error, 1)
	go func() {
		_, err := d.compact(req)
		first <- err
	}()
	<-reached
	_, err := d.sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{
		SessionId: "s", Messages: []*compactordv1.Message{user("y")}, RequestId: "x",
	})
	require.NoError(t, err)
	close(release)
	requireReason(t, <-first, codes.InvalidArgument, "REQUEST_ID_REUSED")
}
