package service_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/memory"
)

// countingStore counts the messages that are read, and knows how many one call has read at the most.
type countingStore struct {
	storage.Store
	read, most atomic.Int64
}

func (s *countingStore) Messages(
	ctx context.Context, ref storage.Ref, start, end uint32, maxBytes int,
) ([]*compactordv1.LoggedMessage, error) {
	messages, err := s.Store.Messages(ctx, ref, start, end, maxBytes)
	s.read.Add(int64(len(messages)))
	s.most.Store(max(s.most.Load(), int64(len(messages))))
	return messages, err
}

// startCounting starts a daemon with a session of so many messages of 1 kB.
func startCounting(t *testing.T, messages int) (*daemon, *countingStore) {
	t.Helper()
	store := &countingStore{Store: memory.New()}
	d := start(t, withStore(store))
	d.create("s", nil)
	for i := 0; i < messages; i += 500 {
		var batch []*compactordv1.Message
		for n := range 500 {
			batch = append(batch, user(fmt.Sprintf("%d %s", i+n, strings.Repeat("x", 1000))))
		}
		d.append("s", batch...)
	}
	store.read.Store(0)
	store.most.Store(0)
	return d, store
}

// Listing a log in pages reads each message once.
func TestListedPagesReadWhatTheyList(t *testing.T) {
	t.Parallel()
	const messages = 3000
	d, store := startCounting(t, messages)
	for _, size := range []uint32{1, 100, 1000} {
		store.read.Store(0)
		req := &compactordv1.ListMessagesRequest{SessionId: "s", PageSize: size}
		listed := 0
		for pages := 0; pages < 20 && listed < messages; pages++ {
			page, err := d.sessions.ListMessages(t.Context(), req)
			require.NoError(t, err)
			require.Len(t, page.GetMessages(), int(size))
			listed += len(page.GetMessages())
			require.Equal(t, listed < messages, page.GetNextPageToken() != "")
			req.PageToken = page.GetNextPageToken()
		}
		require.Equal(t, int64(listed), store.read.Load())
	}
}

// A page of a view reads about as much of the log as it shows, the last page as much as the first.
func TestPagesOfAViewReadWhatTheyShow(t *testing.T) {
	t.Parallel()
	const messages = 10_000
	d, store := startCounting(t, messages)
	for _, req := range []*compactordv1.GetLLMViewRequest{viewRequest(), strippedView()} {
		req.MaxBytes = 1 << 20
		var reads []int64
		shown := 0
		for more := true; more; {
			store.read.Store(0)
			page, err := d.compactions.GetLLMView(t.Context(), req)
			require.NoError(t, err)
			shown += len(page.GetMessages())
			reads = append(reads, store.read.Load())
			req.ViewToken, more = page.GetViewToken(), page.GetHasMore()
		}
		require.Equal(t, messages, shown)
		require.Greater(t, len(reads), 8)
		for _, read := range reads[1:] {
			require.LessOrEqual(t, read, int64(messages/4), "a later page: %v", reads)
		}
	}
	require.LessOrEqual(t, store.most.Load(), int64(messages/8), "no read is larger than a piece")
}

// strippedView asks for a view whose figures the head does not have.
func strippedView() *compactordv1.GetLLMViewRequest {
	req := viewRequest()
	req.Thinking = compactordv1.ThinkingPolicy_THINKING_POLICY_STRIP.Enum()
	return req
}

// The next pages of a rendered view read nothing and render nothing again, also where other lists took the room of this
// one meanwhile: then the page is the same.
func TestPagesOfARenderedViewReadNothing(t *testing.T) {
	t.Parallel()
	d, store := startCounting(t, 5000)
	req := viewRequest()
	req.Dialect, req.MaxBytes = compactordv1.Dialect_DIALECT_OPENAI_CHAT, 64<<20
	whole, err := d.compactions.GetLLMView(t.Context(), req)
	require.NoError(t, err)
	req.MaxBytes = 1 << 20
	var joined []string
	for pages, more := 0, true; more; pages++ {
		store.read.Store(0)
		page, err := d.compactions.GetLLMView(t.Context(), req)
		require.NoError(t, err)
		require.Equal(t, pages > 0, store.read.Load() == 0, "page %d", pages)
		require.Equal(t, len(joined), int(page.GetUnchangedPrefix()))
		require.True(t, proto.Equal(whole.GetViewReport(), page.GetViewReport()))
		require.True(t, proto.Equal(whole.GetReport(), page.GetReport()))
		joined = append(joined, page.GetMessagesJson()...)
		req.ViewToken, more = page.GetViewToken(), page.GetHasMore()
	}
	require.Equal(t, whole.GetMessagesJson(), joined)
	require.Equal(t, whole.GetViewToken(), req.GetViewToken())
}

// dueByBytes is a policy whose compactions only the view's size in bytes makes due. Then each append plans.
func dueByBytes() *compactordv1.Policy {
	p := small(2000)
	p.ContextWindow = proto.Uint32(10_000_000)
	p.Trigger = &compactordv1.Trigger{TriggerTokens: proto.Uint32(9_000_000), MaxViewBytes: proto.Uint32(20_000)}
	return p
}

// Where each append plans a due compaction, only the first one reads the log. After a pin or a compaction, the state that
// was kept is of no use.
func TestAppendsWhereCompactionIsDueReadTheLogOnce(t *testing.T) {
	t.Parallel()
	store := &countingStore{Store: memory.New()}
	// The results are left out, and the requests are not.
	d := start(t, withStore(store), func(o *service.ServerOptions) { o.LeastOutlined = 2000 })
	d.create("s", dueByBytes())
	for i := range 100 {
		id := fmt.Sprint("c", i)
		d.append("s", user(fmt.Sprintf("%d %s", i, strings.Repeat("x", 1000))), assistant("I look.", call(id, "read", `{"path":"a.go"}`)),
			toolResult(id, strings.Repeat("y", 5000)), assistant("done"))
	}
	again := func() *compactordv1.ContextReport { return d.append("s", user("go on"), assistant("done")).GetReport() }
	store.read.Store(0)
	for range 5 {
		require.True(t, again().GetShouldCompact())
	}
	require.Zero(t, store.read.Load(), "the log was read again")

	d.pin("s", 0)
	store.read.Store(0)
	require.True(t, again().GetShouldCompact())
	require.NotZero(t, store.read.Load(), "a pin changes the state")
	store.read.Store(0)
	require.True(t, again().GetShouldCompact())
	require.Zero(t, store.read.Load())

	require.NotNil(t, d.obey("s").GetCompleted())
	require.False(t, again().GetShouldCompact(), "the state of before the compaction")
}

// Where requests are long, an append that plans reads the last one that the compaction would cover, and nothing else.
func TestAppendsWhereCompactionIsDueReadTheLastRequest(t *testing.T) {
	t.Parallel()
	store := &countingStore{Store: memory.New()}
	d := start(t, withStore(store))
	d.create("s", dueByBytes())
	for i := range 100 {
		d.append("s", user(fmt.Sprintf("%d %s", i, strings.Repeat("x", 3000))), assistant(strings.Repeat("y", 3000)))
	}
	store.read.Store(0)
	store.most.Store(0)
	for range 5 {
		require.True(t, d.append("s", user("go on"), assistant("done")).GetReport().GetShouldCompact())
	}
	require.EqualValues(t, 1, store.most.Load())
	// Once for the budget of the summary, and once for the view that the compaction would leave.
	require.LessOrEqual(t, store.read.Load(), int64(10))
}

// Where a plan frees much, the appends after it do not plan again, and so read nothing.
func TestAppendsAfterThePlanOfADueCompactionReadNothing(t *testing.T) {
	t.Parallel()
	store := &countingStore{Store: memory.New()}
	d := start(t, withStore(store))
	d.create("s", small(2000))
	for i := range 100 {
		d.append("s", user(fmt.Sprintf("%d %s", i, strings.Repeat("x", 3000))), assistant(strings.Repeat("y", 3000)))
	}
	store.read.Store(0)
	for range 5 {
		require.True(t, d.append("s", user("go on"), assistant("done")).GetReport().GetShouldCompact())
	}
	require.Zero(t, store.read.Load())
	require.NotNil(t, d.obey("s").GetCompleted())
}
