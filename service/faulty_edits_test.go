package service_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
	"github.com/compactord/compactord/storage"
)

// Appends, prunes, compactions, pins and reverts meet faults at any place. After each of them, what the daemon says is
// what another one says on the file as it is then, and the view is that of the naive model. Once a call has succeeded it
// is there once, however often it was repeated.
func TestAfterFaultsTheDaemonSaysWhatIsStored(t *testing.T) {
	t.Parallel()
	runs, steps := 12, 40
	if testing.Short() {
		runs, steps = 1, 16
		t.Log("1 of 12 runs: each opens dozens of copies of a store")
	}
	for range runs {
		seed := rand.Uint64()
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			f := newFaultyRun(t, seed)
			for step := range steps {
				f.step(step)
			}
			require.Positive(t, f.store.faults.Load())
			if !testing.Short() {
				require.Positive(t, f.done["compaction"], f.done)
				require.Positive(t, f.done["prune"], f.done)
			}
		})
	}
}

// faultyRun is a daemon over a failing store, and what was acknowledged.
type faultyRun struct {
	t      *testing.T
	random *rand.Rand
	path   string
	store  *faulty
	d      *daemon
	point  uint32
	done   map[string]int
}

func newFaultyRun(t *testing.T, seed uint64) *faultyRun {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store.db")
	f := &faultyRun{t: t, random: rand.New(rand.NewPCG(seed, 3)), path: path, done: make(map[string]int)}
	f.store = &faulty{Store: openStore(t, path), random: rand.New(rand.NewPCG(seed, 4))}
	f.d = start(t, withStore(f.store))
	policy := small(300)
	policy.PruneStrategy = hideAllBut(1).GetPruneStrategy()
	f.d.create("s", policy)
	return f
}

// step makes one call until it succeeds or is refused, with a comparison after each fault.
func (f *faultyRun) step(n int) {
	f.t.Helper()
	call := f.draw(n)
	for {
		f.store.every.Store(6)
		before := f.store.faults.Load()
		err := call()
		f.store.every.Store(0)
		require.NoError(f.t, explained(err))
		if f.store.faults.Load() > before || n%8 == 0 {
			f.compare()
		}
		if code := statusCode(err); code != codes.Unavailable && code != codes.ResourceExhausted {
			return
		}
	}
}

// draw returns a call, whose repetitions have the same request_id.
func (f *faultyRun) draw(n int) func() error {
	ctx, id := f.t.Context(), fmt.Sprint("request-", n)
	what := f.random.IntN(8)
	if f.point == 0 {
		what = -1
	}
	switch what {
	case 0:
		req := compactRequest("s", nil)
		req.RequestId = id
		return func() error {
			events, err := f.d.compact(req)
			if err == nil && last(f.t, events).GetCompleted() != nil {
				f.done["compaction"]++
			}
			return err
		}
	case 1:
		return func() error {
			answer, err := f.d.compactions.Prune(ctx, &compactordv1.PruneRequest{
				Target: &compactordv1.PruneRequest_SessionId{SessionId: "s"}, RequestId: id,
			})
			if answer.GetPrune() != nil {
				f.done["prune"]++
			}
			return err
		}
	case 2:
		point := f.point - uint32(f.random.IntN(int(min(f.point, 4)+1)))
		return func() error {
			_, err := f.d.sessions.RevertToCheckpoint(ctx, &compactordv1.RevertToCheckpointRequest{
				SessionId: "s", RequestId: id, Target: &compactordv1.RevertToCheckpointRequest_Point{Point: point},
			})
			return err
		}
	case 3:
		return func() error {
			_, err := f.d.sessions.PinMessages(ctx, &compactordv1.PinMessagesRequest{SessionId: "s", RequestId: id, Indexes: []uint32{0}})
			return err
		}
	default:
		turn := working(1, 2000+f.random.IntN(3000))[1:]
		for _, m := range turn {
			m.Parts = append([]*compactordv1.Part(nil), m.GetParts()...)
			renameCalls(m, id)
		}
		return func() error {
			answer, err := f.d.sessions.AppendMessages(ctx, &compactordv1.AppendMessagesRequest{
				SessionId: "s", RequestId: id, Messages: turn,
			})
			if err == nil {
				f.point = answer.GetPoint()
				f.done[id] = len(turn)
			}
			return err
		}
	}
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

// settled is a store whose opening records no ends of compactions that another one could not record.
type settled struct{ storage.Store }

func (settled) Abandoned(context.Context) ([]storage.Ref, error) { return nil, nil }

// wholeAnswer is all that a daemon says of the session.
type wholeAnswer struct {
	session  *compactordv1.Session
	messages []*compactordv1.LoggedMessage
	records  []*compactordv1.Record
	view     []*compactordv1.ViewMessage
}

func toldBy(d *daemon) wholeAnswer {
	d.t.Helper()
	row, err := d.sessions.GetSession(d.t.Context(), &compactordv1.GetSessionRequest{SessionId: "s"})
	require.NoError(d.t, err)
	view, err := d.compactions.GetLLMView(d.t.Context(), &compactordv1.GetLLMViewRequest{
		Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: "s"}, MaxBytes: 64 << 20,
	})
	require.NoError(d.t, err)
	return wholeAnswer{row.GetSession(), d.messages("s"), d.records("s"), view.GetMessages()}
}

// compare compares what the daemon says with what one on a copy of the file says, and with the model.
func (f *faultyRun) compare() {
	f.t.Helper()
	here := toldBy(f.d)
	content, err := os.ReadFile(f.path)
	require.NoError(f.t, err)
	copied := filepath.Join(f.t.TempDir(), "copy.db")
	require.NoError(f.t, os.WriteFile(copied, content, 0o600))
	store := openStore(f.t, copied)
	problems, err := sessionlog.Check(f.t.Context(), store, "")
	require.NoError(f.t, err)
	require.Empty(f.t, problems)
	d := start(f.t, withStore(settled{store}))
	there := toldBy(d)
	d.stop()
	require.True(f.t, proto.Equal(here.session, there.session), "%v\n%v", here.session, there.session)
	requireSameList(f.t, here.messages, there.messages)
	requireSameList(f.t, here.records, there.records)
	requireSameBytes(f.t, here.view, there.view)
	log := &sessiontest.Log{Items: make([]sessiontest.Item, len(here.messages)+len(here.records))}
	found := make(map[string]int)
	for _, l := range here.messages {
		item := sessiontest.Item{Message: l.GetMessage(), Arrival: l.GetArrivalEdits()}
		if l.GetMessage().GetRole() == compactordv1.Role_ROLE_ASSISTANT {
			item.MadeFrom = proto.Uint32(l.GetViewPoint())
		}
		log.Items[l.GetSequence()] = item
		found[idOf(l.GetMessage())]++
	}
	for _, r := range here.records {
		log.Items[r.GetSequence()] = sessiontest.Item{Record: r}
	}
	requireSameBytes(f.t, modelAt(log, log.Newest()).View(session.ViewOptions{}).Messages, here.view)
	for id, n := range found {
		require.Equal(f.t, 4, n, "messages of %s: all or none, and once", id)
	}
	for id, n := range f.done {
		if strings.HasPrefix(id, "request-") {
			require.Equal(f.t, n, found[id], "%s was acknowledged", id)
		}
	}
}

// idOf returns the request that appended a message.
func idOf(m *compactordv1.Message) string {
	if r := m.GetParts()[0].GetToolResult(); r != nil {
		return r.GetCallId()
	}
	text := m.GetParts()[0].GetText().GetText()
	return strings.TrimSuffix(text[strings.LastIndex(text, "<")+1:], ">")
}

func requireSameList[M proto.Message](t *testing.T, want, got []M) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range want {
		require.True(t, proto.Equal(want[i], got[i]), "%d\n%v\n%v", i, want[i], got[i])
	}
}
