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
	server, err := postgrestest.Start(t.Context())
	if errors.Is(err, postgrestest.ErrMissing) {
		t.Skip(err)
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	// Listings hold a log whole only up to a length.
	for part := range slices.Chunk(make([]struct{}, rounds), 10) {
		t.Run(fmt.Sprint(len(part), " kills"), func(t *testing.T) {
			newPair(t, server.Database(t), seed(t)).kill(len(part))
		})
	}
}

// kill runs clients and watchers while daemons are killed a number of times, and checks what all of them saw.
func (p *pair) kill(times int) {
	p.t.Helper()
	over, watched := p.watch()
	stop := p.run()
	for range times {
		p.round()
	}
	stop()
	p.settle()
	all := readAll(p.t, p.any(p.random))
	for _, w := range p.watchers {
		w.await(len(all[w.session].messages) + len(all[w.session].records))
	}
	over()
	watched()
	for _, w := range p.watchers {
		w.compare(p.t, all[w.session])
	}
	for i := range p.daemons {
		p.daemons[i].Load().stop(p.t)
	}
	p.repeatAll(p.judge())
}

// pair are two daemons on one database.
type pair struct {
	*world
	daemons [2]atomic.Pointer[daemon]
	// openings are the names under which the daemons have the database open.
	openings [2]string
	watchers []*watcher
	// failed is closed when a client has failed.
	failed chan struct{}
}

func newPair(t *testing.T, store string, seed uint64) *pair {
	t.Helper()
	p := &pair{world: newWorldOn(t, store, seed), failed: make(chan struct{})}
	for _, c := range p.clients {
		c.outlives = true
	}
	for i := range p.daemons {
		p.start(i)
	}
	return p
}

// start starts a daemon and learns the name of its opening.
func (p *pair) start(i int) {
	p.t.Helper()
	before := p.names()
	d := serve(p.t, p.store)
	after := slices.DeleteFunc(p.names(), func(name string) bool { return slices.Contains(before, name) })
	require.Len(p.t, after, 1)
	p.openings[i] = after[0]
	p.daemons[i].Store(d)
}

func (p *pair) names() (names []string) {
	p.t.Helper()
	p.connected(func(ctx context.Context, conn *pgx.Conn) error {
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
func (p *pair) expire(killed int) {
	p.t.Helper()
	p.connected(func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "UPDATE openings SET expires = now() - interval '1 second' WHERE name <> $1", p.openings[1-killed])
		return err
	})
}

func (p *pair) connected(use func(ctx context.Context, conn *pgx.Conn) error) {
	p.t.Helper()
	conn, err := pgx.Connect(p.t.Context(), p.store)
	require.NoError(p.t, err)
	require.NoError(p.t, use(p.t.Context(), conn))
	require.NoError(p.t, conn.Close(p.t.Context()))
}

// any returns one of the daemons that run.
func (p *pair) any(random *rand.Rand) *daemon {
	i := random.IntN(2)
	if d := p.daemons[i].Load(); d != nil {
		return d
	}
	return p.daemons[1-i].Load()
}

// run has all clients make calls until stop is called.
func (p *pair) run() (stop func()) {
	ctx, cancel := context.WithCancel(p.t.Context())
	failures := make([]error, len(p.clients))
	fail := sync.OnceFunc(func() { close(p.failed) })
	var group sync.WaitGroup
	for i, c := range p.clients {
		group.Go(func() {
			for ctx.Err() == nil && failures[i] == nil {
				failures[i] = c.step(p.t.Context(), p.any)
			}
			if failures[i] != nil {
				fail()
			}
		})
	}
	return func() {
		cancel()
		group.Wait()
		require.NoError(p.t, errors.Join(failures...))
	}
}

// round kills a daemon in the middle of calls, and starts it again while the clients use the other one.
func (p *pair) round() {
	p.t.Helper()
	p.wait(1 + p.random.IntN(120))
	i := p.random.IntN(2)
	d := p.daemons[i].Load()
	d.kill()
	p.daemons[i].Store(nil)
	d.buried(p.t)
	p.wait(1 + p.random.IntN(40))
	p.expire(i)
	p.start(i)
}

// wait waits until the clients have got a number of answers, or one has failed.
func (p *pair) wait(calls int) {
	for range calls {
		select {
		case <-p.history.ends:
		case <-p.failed:
			return
		}
	}
}

// settle gives all open calls their answers, and compacts the sessions: what a dead daemon began holds up nobody.
func (p *pair) settle() {
	p.t.Helper()
	for _, c := range p.clients {
		for c.open != nil {
			require.NoError(p.t, c.send(p.t.Context(), p.any(c.random), c.open))
		}
	}
	for _, id := range p.clients[0].shared {
		call := p.history.begin(id, &compactordv1.CompactRequest{
			Target: &compactordv1.CompactRequest_SessionId{SessionId: id}, RequestId: "settle-" + id,
		})
		require.NoError(p.t, p.clients[0].send(p.t.Context(), p.any(p.random), call))
		require.NotEqual(p.t, "COMPACTION_RUNNING", reasonOf(call.err))
		require.NotEqual(p.t, unknown, call.outcome)
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
func (p *pair) watch() (over, watched func()) {
	ctx, cancel := context.WithCancel(p.t.Context())
	var group sync.WaitGroup
	for i, id := range slices.Repeat(p.clients[0].shared, 2) {
		w := &watcher{session: id, random: rand.New(rand.NewPCG(p.random.Uint64(), uint64(i))), more: sync.NewCond(&sync.Mutex{})}
		p.watchers = append(p.watchers, w)
		group.Go(func() {
			for ctx.Err() == nil && w.err == nil {
				w.follow(ctx, p.any(w.random))
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
