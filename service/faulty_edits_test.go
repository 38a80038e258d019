package service_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
)

// Appends, prunes, compactions, pins, reverts and deletions meet faults at any place. After each of them, what the daemon
// says is what another one says on the file as it is then, and the view is that of the naive model. What a call has
// acknowledged is there once, however often it was repeated, and what it has refused is not.
func TestAfterFaultsTheDaemonSaysWhatIsStored(t *testing.T) {
	t.Parallel()
	runs, steps := 12, 40
	if testing.Short() {
		runs, steps = 2, 16
		t.Log("2 of 12 runs: each opens dozens of copies of a store")
	}
	var mu sync.Mutex
	done := make(map[string]int)
	t.Run("runs", func(t *testing.T) {
		for range runs {
			seed := rand.Uint64()
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				f := newFaultyRun(t, seed)
				for step := range steps {
					f.step(step)
				}
				require.Positive(t, f.store.faults.Load())
				f.openAgain()
				mu.Lock()
				defer mu.Unlock()
				for what, n := range f.done {
					done[what] += n
				}
			})
		}
	})
	t.Log(done)
	for _, what := range []string{"append", "compaction", "prune", "revert", "pin", "create", "delete"} {
		require.Positive(t, done[what], what)
	}
}

// side is a session that is created and deleted again and again.
const side = "side"

// faultyRun is a daemon over a failing store, and what was acknowledged.
type faultyRun struct {
	t      *testing.T
	random *rand.Rand
	path   string
	store  *faulty
	d      *daemon
	point  uint32
	// done counts the calls of a kind that have written something.
	done map[string]int
	// appended are the requests whose messages were acknowledged, entries the ids of acknowledged compactions and prunes,
	// points the sequences of acknowledged reverts and pins. created reports whether there is a session side.
	appended map[string]bool
	entries  map[string]bool
	points   map[uint32]bool
	created  bool
}

func newFaultyRun(t *testing.T, seed uint64) *faultyRun {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store.db")
	f := &faultyRun{
		t: t, random: rand.New(rand.NewPCG(seed, 3)), path: path, done: make(map[string]int),
		appended: make(map[string]bool), entries: make(map[string]bool), points: make(map[uint32]bool),
	}
	f.store = &faulty{Store: openStore(t, path), random: rand.New(rand.NewPCG(seed, 4))}
	// Each read can fail. Only large results are read one by one, or hardly a compaction would come to its end.
	f.d = start(t, withStore(f.store), f.store.log.option(), func(o *service.ServerOptions) { o.LeastOutlined = 3500 })
	policy := small(300)
	policy.PruneStrategy = hideAllBut(1).GetPruneStrategy()
	f.d.create("s", policy)
	return f
}

// step makes one call until it succeeds, with a comparison after each fault.
func (f *faultyRun) step(n int) {
	f.t.Helper()
	call := f.draw(n)
	every := int64(6)
	if f.random.IntN(2) == 0 {
		// Writes alone fail, so that those which come after many reads do too.
		every = 2
	}
	for {
		f.store.readable.Store(every == 2)
		f.store.every.Store(every)
		before := f.store.faults.Load()
		err := call()
		f.store.every.Store(0)
		failed := f.store.faults.Load() > before
		again := refusedByStore(err)
		require.True(f.t, failed || !again, "nothing has failed: %v", err)
		if !again {
			require.NoError(f.t, err)
		}
		if failed || n%8 == 0 {
			f.compare(again)
		}
		if !again {
			return
		}
	}
}

// refusedByStore reports whether an error says that the store refuses, so that the call is to be repeated.
func refusedByStore(err error) bool {
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			return info.GetReason() == "STORE_UNAVAILABLE"
		}
	}
	return false
}

// draw returns a call, whose repetitions are the same. The first calls are one of each kind.
func (f *faultyRun) draw(n int) func() error {
	id, number := fmt.Sprint("request-", n), f.random.Uint32()
	add := func() error { return f.append(id, int(2000+number%3000)) }
	compact := func() error { return f.compact(id) }
	prune := func() error { return f.prune(id) }
	revert := func() error { return f.revert(id, number) }
	pin := func() error { return f.pin(id) }
	other := func() error { return f.side(id) }
	kinds := []func() error{add, add, other, pin, add, compact, add, add, prune, revert, other}
	switch {
	case f.point == 0:
		return add
	case n < len(kinds):
		return kinds[n]
	default:
		return kinds[f.random.IntN(len(kinds))]
	}
}

func (f *faultyRun) append(id string, resultChars int) error {
	turn := working(1, resultChars)[1:]
	for _, m := range turn {
		renameCalls(m, id)
	}
	answer, err := f.d.sessions.AppendMessages(f.t.Context(), &compactordv1.AppendMessagesRequest{
		SessionId: "s", RequestId: id, Messages: turn,
	})
	if err == nil {
		f.point = answer.GetPoint()
		f.appended[id] = true
		f.done["append"]++
	}
	return err
}

func (f *faultyRun) compact(id string) error {
	req := compactRequest("s", nil)
	req.RequestId = id
	events, err := f.d.compact(req)
	for i, e := range events {
		completed := e.GetCompleted()
		if completed == nil {
			continue
		}
		require.NoError(f.t, err, "it has said that it is completed")
		require.Equal(f.t, len(events)-1, i)
		f.done["compaction"]++
		for _, entry := range []string{completed.GetCompaction().GetId(), completed.GetPrune().GetId()} {
			if entry != "" {
				f.entries[entry] = true
			}
		}
	}
	return err
}

func (f *faultyRun) prune(id string) error {
	answer, err := f.d.compactions.Prune(f.t.Context(), &compactordv1.PruneRequest{
		Target: &compactordv1.PruneRequest_SessionId{SessionId: "s"}, RequestId: id,
	})
	if answer.GetPrune() != nil {
		f.entries[answer.GetPrune().GetId()] = true
		f.done["prune"]++
	}
	return err
}

func (f *faultyRun) revert(id string, number uint32) error {
	point := f.point - number%(min(f.point, 4)+1)
	answer, err := f.d.sessions.RevertToCheckpoint(f.t.Context(), &compactordv1.RevertToCheckpointRequest{
		SessionId: "s", RequestId: id, Target: &compactordv1.RevertToCheckpointRequest_Point{Point: point},
	})
	if r := answer.GetRecord(); r != nil {
		f.points[r.GetSequence()] = true
		f.done["revert"]++
	}
	return err
}

func (f *faultyRun) pin(id string) error {
	answer, err := f.d.sessions.PinMessages(f.t.Context(), &compactordv1.PinMessagesRequest{
		SessionId: "s", RequestId: id, Indexes: []uint32{0},
	})
	if r := answer.GetRecord(); r != nil {
		f.points[r.GetSequence()] = true
		f.done["pin"]++
	}
	return err
}

// side creates the other session, or deletes it.
func (f *faultyRun) side(id string) error {
	if !f.created {
		_, err := f.d.sessions.CreateSession(f.t.Context(), &compactordv1.CreateSessionRequest{SessionId: side, RequestId: id})
		if err == nil {
			f.created = true
			f.done["create"]++
		}
		return err
	}
	_, err := f.d.sessions.DeleteSession(f.t.Context(), &compactordv1.DeleteSessionRequest{SessionId: side})
	if status.Code(err) == codes.NotFound {
		// An earlier try deleted it and failed then.
		err = nil
	}
	if err == nil {
		f.created = false
		f.done["delete"]++
	}
	return err
}

// renameCalls makes a message one of a request: its texts and calls name it.
func renameCalls(m *compactordv1.Message, id string) {
	for _, p := range m.GetParts() {
		if text := p.GetText(); text != nil {
			text.Text += " <" + id + ">"
		}
		if call := p.GetToolCall(); call != nil {
			call.Id = id
		}
		if result := p.GetToolResult(); result != nil {
			result.CallId = id
		}
	}
}
