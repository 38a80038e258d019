package histories_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage/anystore"
)

func seed(t *testing.T) uint64 {
	t.Helper()
	seed := rand.Uint64()
	if given := os.Getenv("COMPACTORD_HISTORY_SEED"); given != "" {
		var err error
		seed, err = strconv.ParseUint(given, 10, 64)
		require.NoError(t, err)
	}
	t.Logf("COMPACTORD_HISTORY_SEED=%d", seed)
	return seed
}

// policy makes summaries and prunes of short conversations.
func policy() *compactordv1.Policy {
	return &compactordv1.Policy{
		ContextWindow: proto.Uint32(8000),
		Strategy: &compactordv1.Strategy{Kind: &compactordv1.Strategy_Summarize{
			Summarize: &compactordv1.SummarizeStrategy{RecentTokens: proto.Uint32(500)},
		}},
		PruneStrategy: &compactordv1.Strategy{Kind: &compactordv1.Strategy_PruneToolOutputs{
			PruneToolOutputs: &compactordv1.PruneToolOutputsStrategy{
				KeepGroups: proto.Uint32(1), KeepTokens: proto.Uint32(0), MinimumTokens: proto.Uint32(0),
			},
		}},
	}
}

// A daemon is killed at random moments while several clients use the same sessions.
func TestHistoriesOfAKilledDaemon(t *testing.T) {
	t.Parallel()
	rounds := 24
	if testing.Short() {
		rounds = 4
		t.Log("4 of 24 kills: each daemon takes a moment to start")
	}
	w := newWorld(t, seed(t))
	for range rounds {
		w.untilKilled(undisturbed)
	}
	w.last()
	all := w.judge()
	w.repeatAll(all)
}

// world is a store, and the clients of its daemons.
type world struct {
	t       *testing.T
	store   string
	random  *rand.Rand
	history *history
	clients []*client
}

func newWorld(t *testing.T, seed uint64) *world {
	t.Helper()
	anystore.NeedsFile(t, "histories over a database have tests of their own")
	return newWorldOn(t, anystore.Place(t), seed)
}

func newWorldOn(t *testing.T, store string, seed uint64) *world {
	t.Helper()
	w := &world{
		t: t, store: store, random: rand.New(rand.NewPCG(seed, 0)),
		history: &history{ends: make(chan struct{}, 1000)},
	}
	shared := []string{"a", "b"}
	for _, name := range []string{"v", "w", "x", "y", "z"} {
		w.clients = append(w.clients, newClient(w.history, name, seed, shared))
	}
	d := serve(t, w.store)
	for _, id := range shared {
		require.NoError(t, w.clients[0].send(t.Context(), d, w.history.begin(id, &compactordv1.CreateSessionRequest{
			SessionId: id, Policy: policy(), RequestId: "create",
		})))
	}
	d.kill()
	d.buried(t)
	return w
}

// undisturbed leaves a daemon alone.
func undisturbed(*daemon) {}

// untilKilled runs the clients until the daemon is killed. It disturbs the daemon after each call.
func (w *world) untilKilled(disturb func(d *daemon)) {
	w.t.Helper()
	if w.random.IntN(4) == 0 {
		// One that is killed while it starts.
		d := launch(w.t, w.store)
		yield(w.random.IntN(100_000))
		d.kill()
		d.buried(w.t)
	}
	d := serve(w.t, w.store)
	calls, pause := 1+w.random.IntN(120), w.random.IntN(2000)
	over := make(chan struct{})
	var killer sync.WaitGroup
	killer.Go(func() {
		defer d.kill()
		for range calls {
			select {
			case <-w.history.ends:
				disturb(d)
			case <-over:
				return
			}
		}
		yield(pause)
	})
	w.run(d, 0)
	close(over)
	killer.Wait()
	d.buried(w.t)
}

// yield lets others run, so that what follows comes at a moment of no kind.
func yield(times int) {
	for range times {
		runtime.Gosched()
	}
}

// last runs the clients for a while, and stops the daemon.
func (w *world) last() {
	w.t.Helper()
	d := serve(w.t, w.store)
	w.run(d, 10)
	for _, c := range w.clients {
		require.Nil(w.t, c.open, "every call has an answer")
	}
	d.stop(w.t)
}

// run runs all clients until the daemon is gone, or each has made a number of calls.
func (w *world) run(d *daemon, calls int) {
	w.t.Helper()
	failures := make([]error, len(w.clients))
	var group sync.WaitGroup
	for i, c := range w.clients {
		group.Go(func() {
			if failures[i] = c.run(w.t.Context(), d, calls); failures[i] != nil {
				d.kill()
			}
		})
	}
	group.Wait()
	require.NoError(w.t, errors.Join(failures...))
}

// judge checks the calls with a new daemon on the store, and the views at many points of every session.
func (w *world) judge() map[string]*left {
	w.t.Helper()
	d := serve(w.t, w.store)
	all := readAll(w.t, d)
	require.Empty(w.t, check(w.history.calls, all))
	counts := make(map[string]int)
	for _, c := range w.history.calls {
		counts[[]string{"unanswered", "answered", "refused"}[c.outcome]]++
	}
	w.t.Logf("%d calls: %v", len(w.history.calls), counts)
	for id, l := range all {
		log := l.log()
		w.t.Logf("session %s: %d messages, %d records", id, len(l.messages), len(l.records))
		for point := range log.Newest() + 1 {
			if point%7 != 0 && point != log.Newest() {
				continue
			}
			answer, err := d.compactions.GetLLMView(w.t.Context(), &compactordv1.GetLLMViewRequest{
				Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: id}, AsOf: &point,
			})
			require.NoError(w.t, err)
			require.True(w.t, sameView(viewAt(log, point), answer.GetMessages()), "session %s at point %d", id, point)
		}
	}
	d.stop(w.t)
	return all
}

// repeatAll sends every acknowledged request again. Nothing is written.
func (w *world) repeatAll(before map[string]*left) {
	w.t.Helper()
	d := serve(w.t, w.store)
	for _, c := range w.clients {
		for range 2 * len(c.done) {
			require.NoError(w.t, c.repeatAnswered(w.t.Context(), d))
		}
	}
	for id, l := range readAll(w.t, d) {
		require.Len(w.t, l.messages, len(before[id].messages))
		require.Len(w.t, l.records, len(before[id].records))
	}
	d.stop(w.t)
}
