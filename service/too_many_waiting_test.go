package service_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/memory"
)

// heldStore is a store in which commits and reads of messages wait until they are released, once holding is set.
type heldStore struct {
	storage.Store

	holding atomic.Bool
	reached chan struct{}
	release chan struct{}
}

func (h *heldStore) wait() {
	if h.holding.Load() {
		h.reached <- struct{}{}
		<-h.release
	}
}

func (h *heldStore) Commit(ctx context.Context, c *storage.Commit) error {
	h.wait()
	return h.Store.Commit(ctx, c)
}

func (h *heldStore) Messages(
	ctx context.Context, ref storage.Ref, start, end uint32, maxBytes int,
) ([]*compactordv1.LoggedMessage, error) {
	h.wait()
	return h.Store.Messages(ctx, ref, start, end, maxBytes)
}

// Of three searches, or imports, on one core with room for one that waits, one is refused and told when to come again,
// also where the client is beyond a network. The others end well.
func TestTooManySearchesOrImportsWait(t *testing.T) {
	t.Parallel()
	for pool, call := range map[string]func(d *daemon) error{
		"searches": func(d *daemon) error {
			_, err := d.sessions.SearchMessages(d.t.Context(), searchWords("words"))
			return err
		},
		"imports": func(d *daemon) error {
			_, err := d.sessions.AppendMessages(d.t.Context(), &compactordv1.AppendMessagesRequest{
				SessionId: "s", Messages: []*compactordv1.Message{user(strings.Repeat("words ", 100<<10))},
			})
			return err
		},
	} {
		t.Run(pool, func(t *testing.T) {
			t.Parallel()
			store := &heldStore{Store: memory.New(), reached: make(chan struct{}, 9), release: make(chan struct{})}
			d := start(t, oneCore(1), withStore(store))
			d.create("s", nil)
			d.append("s", user("some words"))
			store.holding.Store(true)
			release := sync.OnceFunc(func() { close(store.release) })
			t.Cleanup(release)

			ended := make(chan error, 3)
			ask := func() { ended <- call(d) }
			go ask()
			<-store.reached
			go ask()
			go ask()
			refused := <-ended
			info := requireReason(t, refused, codes.ResourceExhausted, "TOO_MANY_WAITING")
			require.Equal(t, pool, info.GetMetadata()["pool"])
			require.True(t, tellsWhenToComeAgain(refused))
			require.Empty(t, ended)
			release()
			for range 2 {
				require.NoError(t, <-ended)
			}
		})
	}
}

// The rules of what brings much are evaluated once there is room for it: appends, lists to sync, inline histories of
// compactions. Those of what brings little are evaluated at once.
func TestRulesOfLargeRequestsWait(t *testing.T) {
	t.Parallel()
	store := &heldStore{Store: memory.New(), reached: make(chan struct{}, 9), release: make(chan struct{})}
	d := start(t, oneCore(1), withStore(store))
	d.create("s", nil)
	store.holding.Store(true)
	release := sync.OnceFunc(func() { close(store.release) })
	t.Cleanup(release)
	ended := make(chan error, 3)
	appended := func(m ...*compactordv1.Message) error {
		_, err := d.sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{SessionId: "s", Messages: m})
		return err
	}
	synced := func(m ...*compactordv1.Message) error {
		req := &compactordv1.SyncMessagesRequest{SessionId: "s"}
		for _, m := range m {
			req.Elements = append(req.Elements, &compactordv1.ListElement{Content: &compactordv1.ListElement_Message{Message: m}})
		}
		stream, err := d.sessions.SyncMessages(t.Context(), req)
		require.NoError(t, err)
		_, err = stream.Recv()
		return err
	}
	compacted := func(m ...*compactordv1.Message) error {
		stream, err := d.compactions.Compact(t.Context(), &compactordv1.CompactRequest{
			Target: &compactordv1.CompactRequest_History{History: &compactordv1.InlineHistory{Messages: m}},
		})
		require.NoError(t, err)
		_, err = stream.Recv()
		return err
	}
	large := user(strings.Repeat("words ", 100<<10))
	ask := func() { ended <- appended(large) }
	go ask()
	<-store.reached
	go ask()
	go ask()
	requireReason(t, <-ended, codes.ResourceExhausted, "TOO_MANY_WAITING")

	// One works and one waits, so that there is no room to wait.
	withoutRole := &compactordv1.Message{Parts: large.GetParts()}
	brought := []func(...*compactordv1.Message) error{appended, synced, compacted}
	for _, bring := range brought {
		requireReason(t, bring(withoutRole), codes.ResourceExhausted, "TOO_MANY_WAITING")
		requireReason(t, bring(slices.Repeat([]*compactordv1.Message{{}}, 5000)...), codes.ResourceExhausted, "TOO_MANY_WAITING")
		requireReason(t, bring(&compactordv1.Message{}), codes.InvalidArgument, "INVALID_FIELD")
	}
	release()
	for range 2 {
		require.NoError(t, <-ended)
	}
	for _, bring := range brought {
		requireReason(t, bring(withoutRole), codes.InvalidArgument, "INVALID_FIELD")
	}
}

func tellsWhenToComeAgain(err error) bool {
	for _, detail := range status.Convert(err).Details() {
		if delay, is := detail.(*errdetails.RetryInfo); is && delay.GetRetryDelay().AsDuration() > 0 {
			return true
		}
	}
	return false
}
