package histories_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage/postgres/postgrestest"
)

// Clients use two daemons on one database, one of which is killed and started again, now this one, now that. A call that
// one does not answer goes to the other. Watchers go on at the other daemon too.
func TestHistoriesOfTwoDaemonsOnADatabase(t *testing.T) {
	t.Parallel()
	rounds := 3
	if given := os.Getenv("COMPACTORD_HISTORY_ROUNDS"); given != "" {
		var err error
		rounds, err = strconv.Atoi(given)
		require.NoError(t, err)
	}
	server := postgrestest.Shared(t)
	// Listings hold a log whole only up to a length.
	for part := range slices.Chunk(make([]struct{}, rounds), 10) {
		t.Run(fmt.Sprint(len(part), " kills"), func(t *testing.T) {
			database := server.Database(t)
			f := newFleet(t, 2, database, database, seed(t))
			f.disturb(len(part), f.killOne)
		})
	}
}

// settleLimit ends a test whose sessions stay locked.
const settleLimit = 10 * time.Minute

// disturb runs clients and watchers while something is done a number of times, and checks what all of them saw.
func (f *fleet) disturb(times int, do func()) {
	f.t.Helper()
	over, watched := f.watch()
	stop := f.run()
	for range times {
		do()
	}
	stop()
	f.settle()
	all := readAll(f.t, f.any(f.random))
	for _, w := range f.watchers {
		w.await(len(all[w.session].messages) + len(all[w.session].records))
	}
	over()
	watched()
	for _, w := range f.watchers {
		w.compare(f.t, all[w.session])
	}
	for i := range f.daemons {
		f.daemons[i].Load().stop(f.t)
	}
	f.repeatAll(f.judge())
}

// fleet are the daemons on one database.
type fleet struct {
	*world
	// database is its URL, and through the one that the daemons have.
	database, through string
	daemons           []atomic.Pointer[daemon]
	// openings are the names under which the daemons have the database open.
	openings []string
	// outages says that the database does not always answer.
	outages  bool
	watchers []*watcher
	// failed is closed when a client has failed.
	failed chan struct{}
}

func newFleet(t *testing.T, size int, database, through string, seed uint64) *fleet {
	t.Helper()
	f := &fleet{
		world: newWorldOn(t, database, seed), database: database, through: through, failed: make(chan struct{}),
		daemons: make([]atomic.Pointer[daemon], size), openings: make([]string, size),
	}
	for _, c := range f.clients {
		c.outlives = true
	}
	for i := range f.daemons {
		f.start(i)
	}
	return f
}

// start starts a daemon and learns the name of its opening.
func (f *fleet) start(i int) {
	f.t.Helper()
	before := f.names()
	d := serve(f.t, f.through)
	d.outages = f.outages
	after := slices.DeleteFunc(f.names(), func(name string) bool { return slices.Contains(before, name) })
	require.Len(f.t, after, 1)
	f.openings[i] = after[0]
	f.daemons[i].Store(d)
}

func (f *fleet) names() (names []string) {
	f.t.Helper()
	f.connected(func(ctx context.Context, conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, "SELECT name FROM openings")
		if err != nil {
			return err
		}
		names, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	return names
}

// expire lets the time pass after which a daemon that was killed is taken for dead.
func (f *fleet) expire(killed int) {
	f.t.Helper()
	postgrestest.Expire(f.t, f.database, f.openings[killed])
}

func (f *fleet) connected(use func(ctx context.Context, conn *pgx.Conn) error) {
	f.t.Helper()
	conn, err := pgx.Connect(f.t.Context(), f.database)
	require.NoError(f.t, err)
	require.NoError(f.t, use(f.t.Context(), conn))
	require.NoError(f.t, conn.Close(f.t.Context()))
}

// any returns one of the daemons that run.
func (f *fleet) any(random *rand.Rand) *daemon {
	for i := random.IntN(len(f.daemons)); ; i = (i + 1) % len(f.daemons) {
		if d := f.daemons[i].Load(); d != nil {
			return d
		}
	}
}

// run has all clients make calls until stop is called.
func (f *fleet) run() (stop func()) {
	ctx, cancel := context.WithCancel(f.t.Context())
	failures := make([]error, len(f.clients))
	fail := sync.OnceFunc(func() { close(f.failed) })
	var group sync.WaitGroup
	for i, c := range f.clients {
		group.Go(func() {
			for ctx.Err() == nil && failures[i] == nil {
				failures[i] = c.step(f.t.Context(), f.any)
			}
			if failures[i] != nil {
				fail()
			}
		})
	}
	return func() {
		cancel()
		group.Wait()
		require.NoError(f.t, errors.Join(failures...))
	}
}

// killOne kills a daemon in the middle of calls, and starts it again while the clients use the others.
func (f *fleet) killOne() {
	f.t.Helper()
	f.wait(1 + f.random.IntN(120))
	i := f.random.IntN(len(f.daemons))
	d := f.daemons[i].Load()
	d.kill()
	f.daemons[i].Store(nil)
	d.buried(f.t)
	f.wait(1 + f.random.IntN(40))
	f.expire(i)
	f.start(i)
}

// wait waits until the clients have got a number of answers, or one has failed.
func (f *fleet) wait(calls int) {
	for range calls {
		select {
		case <-f.history.ends:
		case <-f.failed:
			return
		}
	}
}

// settle gives all open calls their answers, and compacts the sessions: what a dead daemon began holds up nobody. A daemon
// that lives records the end of a compaction only after its database has come back: the next one waits for that.
func (f *fleet) settle() {
	f.t.Helper()
	for _, c := range f.clients {
		for c.open != nil {
			require.NoError(f.t, c.send(f.t.Context(), f.any(c.random), c.open))
		}
	}
	ctx, cancel := context.WithTimeout(f.t.Context(), settleLimit)
	defer cancel()
	for _, id := range f.clients[0].shared {
		call := f.history.begin(id, &compactordv1.CompactRequest{
			Target: &compactordv1.CompactRequest_SessionId{SessionId: id}, RequestId: "settle-" + id, Preempt: f.outages,
		})
		require.NoError(f.t, f.clients[0].send(ctx, f.any(f.random), call))
		for f.outages && call.outcome == unknown {
			require.NoError(f.t, f.clients[0].send(ctx, f.any(f.random), call))
		}
		require.NotEqual(f.t, "COMPACTION_RUNNING", reasonOf(call.err))
		require.NotEqual(f.t, unknown, call.outcome)
	}
}

// watcher follows a session, at one daemon after the other.
type watcher struct {
	session string
	random  *rand.Rand
	// more wakes who waits for what comes next. The lock of more guards what follows.
	more *sync.Cond
	got  []*compactordv1.WatchSessionResponse
	err  error
}

// watch begins to watch each session twice. over ends that, and watched waits for it.
func (f *fleet) watch() (over, watched func()) {
	ctx, cancel := context.WithCancel(f.t.Context())
	var group sync.WaitGroup
	for i, id := range slices.Repeat(f.clients[0].shared, 2) {
		w := &watcher{session: id, random: rand.New(rand.NewPCG(f.random.Uint64(), uint64(i))), more: sync.NewCond(&sync.Mutex{})}
		f.watchers = append(f.watchers, w)
		group.Go(func() {
			for ctx.Err() == nil && w.err == nil {
				w.follow(ctx, f.any(w.random))
			}
		})
	}
	return cancel, group.Wait
}

// follow watches at one daemon from where the watcher is, until the daemon ends.
func (w *watcher) follow(ctx context.Context, d *daemon) {
	next := uint32(len(w.got))
	stream, err := d.sessions.WatchSession(ctx, &compactordv1.WatchSessionRequest{SessionId: w.session, FromSequence: &next})
	for err == nil {
		var answer *compactordv1.WatchSessionResponse
		if answer, err = stream.Recv(); err == nil {
			w.take(answer)
		}
	}
	if outcomeOf(err) == refused {
		w.fail(err)
	}
}

// take notes what belongs to the log. Each of it comes once, in order.
func (w *watcher) take(answer *compactordv1.WatchSessionResponse) {
	var sequence uint32
	switch kind := answer.GetKind().(type) {
	case *compactordv1.WatchSessionResponse_Message:
		sequence = kind.Message.GetSequence()
	case *compactordv1.WatchSessionResponse_Record:
		sequence = kind.Record.GetSequence()
	default:
		return
	}
	w.more.L.Lock()
	defer w.more.L.Unlock()
	if int(sequence) != len(w.got) && w.err == nil {
		w.err = fmt.Errorf("session %s: sequence %d came in the place of %d", w.session, sequence, len(w.got))
	}
	w.got = append(w.got, answer)
	w.more.Broadcast()
}

func (w *watcher) fail(err error) {
	w.more.L.Lock()
	defer w.more.L.Unlock()
	w.err = err
	w.more.Broadcast()
}

// await waits until the watcher has got so much of the log, or has failed.
func (w *watcher) await(count int) {
	w.more.L.Lock()
	defer w.more.L.Unlock()
	for w.err == nil && len(w.got) < count {
		w.more.Wait()
	}
}

// compare compares what the watcher got with the log.
func (w *watcher) compare(t *testing.T, l *left) {
	t.Helper()
	require.NoError(t, w.err)
	require.Len(t, w.got, len(l.messages)+len(l.records))
	for _, m := range l.messages {
		require.Equal(t, m.GetIndex(), w.got[m.GetSequence()].GetMessage().GetIndex())
		require.Equal(t, markOf(m.GetMessage()), markOf(w.got[m.GetSequence()].GetMessage().GetMessage()))
	}
	for _, r := range l.records {
		require.NotNil(t, w.got[r.GetSequence()].GetRecord())
	}
}
