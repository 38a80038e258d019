package service_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/service/admission"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/memory"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive"
)

// heldSession is the session whose writes heldCommits holds.
const heldSession = "held"

// heldCommits is a store in which writes to one session wait until the test releases each.
type heldCommits struct {
	storage.Store
	reached, release chan struct{}
}

func (h *heldCommits) Commit(ctx context.Context, c *storage.Commit) error {
	if c.Session.GetSessionId() == heldSession {
		h.reached <- struct{}{}
		<-h.release
	}
	return h.Store.Commit(ctx, c)
}

// appender appends to the sessions of a service with one core, without a network, so that a test can have its own clock.
type appender struct {
	t       *testing.T
	service *service.Service
	held    *heldCommits
}

// appending runs a test in a bubble.
func appending(t *testing.T, test func(a *appender)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		a := &appender{t: t, held: &heldCommits{
			Store: memory.New(), reached: make(chan struct{}), release: make(chan struct{}),
		}}
		a.service = direct(t, a.held, service.Hooks{})
		a.create(heldSession, nil)
		test(a)
	})
}

// direct returns a service with one core, which is called directly.
func direct(t *testing.T, store storage.Store, hooks service.Hooks) *service.Service {
	t.Helper()
	registry, err := strategies.NewRegistry(strategies.Builtin()...)
	require.NoError(t, err)
	writers, err := summarizers.NewRegistry(extractive.New())
	require.NoError(t, err)
	s, err := service.New(service.Options{
		Store: store, Strategies: registry, Summarizers: writers, Logger: slog.New(slog.DiscardHandler), Hooks: hooks,
		Admission: admission.Options{Cores: 1},
	})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

func (a *appender) create(id string, policy *compactordv1.Policy) {
	a.t.Helper()
	_, err := a.service.CreateSession(a.t.Context(), &compactordv1.CreateSessionRequest{SessionId: id, Policy: policy})
	require.NoError(a.t, err)
}

func (a *appender) append(id string, messages ...*compactordv1.Message) {
	_, err := a.service.AppendMessages(a.t.Context(), &compactordv1.AppendMessagesRequest{SessionId: id, Messages: messages})
	assert.NoError(a.t, err)
}

// hold begins a large append, which fills the pool, and returns when it waits for the store.
func (a *appender) hold() {
	go a.append(heldSession, user(strings.Repeat("large ", 100<<10)))
	<-a.held.reached
}

// letGo lets the store write what hold began.
func (a *appender) letGo() {
	a.held.release <- struct{}{}
	synctest.Wait()
}

// A large append rests after its work, twice as long as it took but not for ever, if small ones came meanwhile. Until
// then no other large one begins.
func TestLargeAppendsRestWhereSmallOnesCome(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		small       bool
		took, rests time.Duration
	}{
		"nobody else came":     {took: time.Second, rests: 0},
		"small ones came":      {small: true, took: 400 * time.Millisecond, rests: 800 * time.Millisecond},
		"after very much work": {small: true, took: time.Minute, rests: 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			appending(t, func(a *appender) {
				a.create("small", nil)
				a.create("next", nil)
				a.hold()
				if c.small {
					a.append("small", user("one line"))
				}
				<-time.After(c.took)
				a.letGo()
				ended := time.Now()
				a.append("small", user("does not wait"))
				require.Zero(a.t, time.Since(ended))
				a.append("next", user(strings.Repeat("large ", 100<<10)))
				require.Equal(a.t, c.rests, time.Since(ended))
			})
		})
	}
}

// A line that is appended to a large session waits like a large append, if it makes the session plan. Lines for other
// sessions do not. A daemon that has not appended to them before does the same.
func TestLinesThatPlanMuchWait(t *testing.T) {
	t.Parallel()
	window := func(tokens uint32) *compactordv1.Policy {
		return &compactordv1.Policy{ContextWindow: proto.Uint32(tokens)}
	}
	never := &compactordv1.Policy{Trigger: &compactordv1.Trigger{Enabled: proto.Bool(false)}}
	prunes := proto.CloneOf(never)
	prunes.OnUserMessage = listOf(hideAll().GetPruneStrategy())
	sessions := map[string]struct {
		policy          *compactordv1.Policy
		requests, words int
		waits           bool
	}{
		"large and due":                    {window(200_000), 15, 10_000, true},
		"large and pruned at each request": {prunes, 15, 10_000, true},
		"large and never due":              {never, 15, 10_000, false},
		"small and due":                    {window(20_000), 15, 1000, false},
	}
	for name, begins := range map[string]func(a *appender){
		"the same daemon": func(*appender) {},
		"another daemon":  func(a *appender) { a.service = direct(a.t, a.held, service.Hooks{}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			appending(t, func(a *appender) {
				for id, s := range sessions {
					a.create(id, s.policy)
					for range s.requests {
						a.append(id, user(strings.Repeat("request ", s.words)))
					}
				}
				begins(a)
				a.hold()
				ended := make(chan string, len(sessions))
				for id := range sessions {
					go func() {
						a.append(id, user("one line"))
						ended <- id
					}()
				}
				synctest.Wait()
				passed := len(ended)
				a.letGo()
				require.Len(a.t, ended, len(sessions))
				for i := range len(sessions) {
					id := <-ended
					require.Equal(a.t, sessions[id].waits, i >= passed, id)
				}
			})
		})
	}
}

// discardedSync receives the steps of a SyncMessages that is called without a network.
type discardedSync struct {
	grpc.ServerStreamingServer[compactordv1.SyncMessagesResponse]
	ctx func() context.Context
}

func (s discardedSync) Context() context.Context { return s.ctx() }

func (discardedSync) Send(*compactordv1.SyncMessagesResponse) error { return nil }

// A sync waits by what the session is now, not by what an append has found: a session that was cleared since is little work.
func TestSyncsWaitByTheSessionsRow(t *testing.T) {
	t.Parallel()
	appending(t, func(a *appender) {
		a.create("s", &compactordv1.Policy{ContextWindow: proto.Uint32(200_000)})
		for range 15 {
			a.append("s", user(strings.Repeat("request ", 10_000)))
		}
		synced := func() chan struct{} {
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				req := &compactordv1.SyncMessagesRequest{SessionId: "s", Elements: []*compactordv1.ListElement{
					{Content: &compactordv1.ListElement_Message{Message: user("begin anew")}},
				}}
				assert.NoError(a.t, a.service.SyncMessages(req, discardedSync{ctx: a.t.Context}))
			}()
			synctest.Wait()
			return ended
		}
		a.hold()
		waiting := synced()
		select {
		case <-waiting:
			require.Fail(a.t, "the sync of a large session waits for no other work")
		default:
		}
		_, err := a.service.ClearSession(a.t.Context(), &compactordv1.ClearSessionRequest{SessionId: "s"})
		require.NoError(a.t, err)
		select {
		case <-synced():
		default:
			require.Fail(a.t, "the sync of a session that was cleared waits")
		}
		a.letGo()
		<-waiting
	})
}
