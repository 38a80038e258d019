package service_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/memory"
)

// heldReads is a store in which reading the messages of one session waits, from when the test holds them until it
// releases them.
type heldReads struct {
	storage.Store
	holds   atomic.Bool
	release chan struct{}
}

func (h *heldReads) Messages(
	ctx context.Context, ref storage.Ref, start, end uint32, maxBytes int,
) ([]*compactordv1.LoggedMessage, error) {
	if ref.SessionID == heldSession && h.holds.Load() {
		<-h.release
	}
	return h.Store.Messages(ctx, ref, start, end, maxBytes)
}

// compact compacts a session, and returns at its end.
func (a *appender) compact(id string) { a.compactTo(id, newMemoryStream(a.t.Context())) }

func (a *appender) compactTo(id string, events *memoryStream) {
	assert.NoError(a.t, a.service.Compact(compactRequest(id, nil), events))
}

// poolHeld runs a test in a bubble, on a service with one core in which hold fills a pool until release is called.
// The sessions heldSession, `large` and `pruned` have large views, and `small` has a small one.
func poolHeld(t *testing.T, hold func(a *appender), test func(a *appender, release func())) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		store := &heldReads{Store: memory.New(), release: make(chan struct{})}
		a := &appender{t: t, service: direct(t, store, service.Hooks{})}
		for id, turns := range map[string]int{heldSession: 100, "large": 100, "pruned": 100, "small": 10} {
			policy := small(1000)
			policy.PruneStrategy = hideAll().GetPruneStrategy()
			a.create(id, policy)
			a.append(id, working(turns, 4000)...)
		}
		// What is large enough for its append to rest is over then.
		<-time.After(time.Minute)
		store.holds.Store(true)
		release := sync.OnceFunc(func() { close(store.release) })
		var holds sync.WaitGroup
		defer func() {
			release()
			holds.Wait()
		}()
		holds.Go(func() { hold(a) })
		synctest.Wait()
		test(a, release)
	})
}

func (a *appender) view(id string) {
	_, err := a.service.GetLLMView(a.t.Context(), &compactordv1.GetLLMViewRequest{
		Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: id},
	})
	assert.NoError(a.t, err)
}

func (a *appender) prune(id string, reason compactordv1.CompactionReason) {
	_, err := a.service.Prune(a.t.Context(), &compactordv1.PruneRequest{
		Target: &compactordv1.PruneRequest_SessionId{SessionId: id}, Reason: reason,
	})
	assert.NoError(a.t, err)
}

func (a *appender) forkOf(id string) {
	_, err := a.service.ForkSession(a.t.Context(), &compactordv1.ForkSessionRequest{SessionId: id})
	assert.NoError(a.t, err)
}

func (a *appender) list(req *compactordv1.ListMessagesRequest) {
	_, err := a.service.ListMessages(a.t.Context(), req)
	assert.NoError(a.t, err)
}

func (a *appender) count(req *compactordv1.CountTokensRequest) {
	_, err := a.service.CountTokens(a.t.Context(), req)
	assert.NoError(a.t, err)
}

// While a pool is full, calls that are much work wait for it, and small ones and those of other pools do not.
func TestCallsThatWaitForAPool(t *testing.T) {
	t.Parallel()
	manual, threshold := compactordv1.CompactionReason_COMPACTION_REASON_MANUAL, compactordv1.CompactionReason_COMPACTION_REASON_THRESHOLD
	pools := map[string]struct {
		hold  func(a *appender)
		calls map[string]func(a *appender)
		waits []string
	}{
		"views": {
			hold: func(a *appender) { a.view(heldSession) },
			calls: map[string]func(a *appender){
				"large view":         func(a *appender) { a.view("large") },
				"small view":         func(a *appender) { a.view("small") },
				"long list":          func(a *appender) { a.list(&compactordv1.ListMessagesRequest{SessionId: "small", MaxBytes: 32 << 20}) },
				"short list":         func(a *appender) { a.list(&compactordv1.ListMessagesRequest{SessionId: "small"}) },
				"tokens of a large":  func(a *appender) { a.count(countOf("large")) },
				"tokens of a small":  func(a *appender) { a.count(countOf("small")) },
				"prune in its pool":  func(a *appender) { a.prune("pruned", manual) },
				"append of one line": func(a *appender) { a.append("large", user("one line")) },
			},
			waits: []string{"large view", "long list", "tokens of a large"},
		},
		"imports": {
			hold: func(a *appender) { a.forkOf(heldSession) },
			calls: map[string]func(a *appender){
				"fork of a large":     func(a *appender) { a.forkOf("large") },
				"fork of a small":     func(a *appender) { a.forkOf("small") },
				"large view":          func(a *appender) { a.view("large") },
				"append of one line":  func(a *appender) { a.append("small", user("one line")) },
				"append of much text": func(a *appender) { a.append("short", user(strings.Repeat("large ", 100<<10))) },
			},
			waits: []string{"fork of a large", "append of much text"},
		},
		"compactions": {
			hold: func(a *appender) { a.compact(heldSession) },
			calls: map[string]func(a *appender){
				"compaction":          func(a *appender) { a.compact("small") },
				"prune":               func(a *appender) { a.prune("pruned", manual) },
				"prune that is due":   func(a *appender) { a.prune("pruned", threshold) },
				"prune that is not":   func(a *appender) { a.prune("short", threshold) },
				"large view":          func(a *appender) { a.view("large") },
				"append of one line":  func(a *appender) { a.append("small", user("one line")) },
				"append of much text": func(a *appender) { a.append("short", user(strings.Repeat("large ", 100<<10))) },
			},
			waits: []string{"compaction", "prune", "prune that is due"},
		},
	}
	for name, pool := range pools {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			poolHeld(t, pool.hold, func(a *appender, release func()) {
				a.create("short", hideAll())
				ended := make(chan string, len(pool.calls))
				var calls sync.WaitGroup
				defer func() {
					release()
					calls.Wait()
				}()
				for call, do := range pool.calls {
					calls.Go(func() {
						do(a)
						ended <- call
					})
				}
				synctest.Wait()
				waits := make(map[string]bool)
				for call := range pool.calls {
					waits[call] = true
				}
				for range len(ended) {
					delete(waits, <-ended)
				}
				for _, call := range pool.waits {
					require.True(a.t, waits[call], "%s does not wait", call)
					delete(waits, call)
				}
				require.Empty(a.t, waits)
				release()
				<-time.After(time.Minute)
				require.Len(a.t, ended, len(pool.waits))
			})
		})
	}
}

func countOf(id string) *compactordv1.CountTokensRequest {
	return &compactordv1.CountTokensRequest{What: &compactordv1.CountTokensRequest_SessionId{SessionId: id}}
}

// A client knows at once that its compaction waits.
func TestHeartbeatWhereACompactionWaits(t *testing.T) {
	t.Parallel()
	poolHeld(t, func(a *appender) { a.compact(heldSession) }, func(a *appender, release func()) {
		stream := newMemoryStream(a.t.Context())
		ended := false
		go func() {
			a.compactTo("small", stream)
			ended = true
		}()
		synctest.Wait()
		require.Len(a.t, stream.events, 1)
		require.NotNil(a.t, stream.events[0].GetHeartbeat())
		require.False(a.t, ended)
		release()
		synctest.Wait()
		require.True(a.t, ended)
	})
}
