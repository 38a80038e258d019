package service_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage"
)

// faulty is a store under a disk that fails now and then: reads fail, and writes fail before or after they took effect.
// Others are slow, so that what runs beside them comes first, and reads of ranges are short.
type faulty struct {
	storage.Store
	mu     sync.Mutex
	random *rand.Rand
	// every is how many operations there are for one fault; 0: there are no faults.
	every  atomic.Int64
	faults atomic.Int64
	// readable: reads do not fail.
	readable atomic.Bool
	// log is the log of the daemon that uses it.
	log kept
}

// refusedEnd reports whether a row may still name a compaction as running: the store has refused to record its end, or to
// take back a beginning that it had written but said that it had not.
func (f *faulty) refusedEnd(t testing.TB, operation string) bool {
	t.Helper()
	lines := append(f.log.lines(t, "compaction attempt not recorded"), f.log.lines(t, "beginning of a compaction not taken back")...)
	return slices.ContainsFunc(lines, func(line map[string]any) bool { return line["operation_id"] == operation })
}

// draw returns the error of an operation, and whether it takes effect in spite of it.
func (f *faulty) draw() (effect bool, err error) {
	every := f.every.Load()
	if every == 0 {
		return true, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.random.Int64N(every) != 0 {
		return true, nil
	}
	f.faults.Add(1)
	if f.random.IntN(4) == 0 {
		return false, storage.NewDiskError(fmt.Errorf("write /secret: %w", syscall.ENOSPC))
	}
	return f.random.IntN(2) == 0, storage.NewDiskError(fmt.Errorf("sync /secret: %w", syscall.EIO))
}

// wait lets others run before a slow operation.
func (f *faulty) wait() {
	if f.every.Load() == 0 {
		return
	}
	f.mu.Lock()
	times := max(0, f.random.IntN(400)-300)
	f.mu.Unlock()
	for range times {
		runtime.Gosched()
	}
}

// short returns how much of a range is read: often all.
func (f *faulty) short(n int) int {
	if f.every.Load() == 0 {
		return n
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.random.IntN(3) > 0 {
		return n
	}
	return 1 + f.random.IntN(2000)
}

func (f *faulty) write(do func() error) error {
	f.wait()
	effect, failed := f.draw()
	if !effect {
		return failed
	}
	if err := do(); err != nil {
		return err
	}
	f.wait()
	return failed
}

func (f *faulty) read(do func() error) error {
	f.wait()
	if f.readable.Load() {
		return do()
	}
	if _, err := f.draw(); err != nil {
		return err
	}
	return do()
}

func (f *faulty) CreateSession(ctx context.Context, c *storage.Commit) error {
	return f.write(func() error { return f.Store.CreateSession(ctx, c) })
}

func (f *faulty) Commit(ctx context.Context, c *storage.Commit) error {
	return f.write(func() error { return f.Store.Commit(ctx, c) })
}

func (f *faulty) Draft(ctx context.Context, ref storage.Ref) (draft storage.Draft, err error) {
	err = f.write(func() (err error) {
		draft, err = f.Store.Draft(ctx, ref)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &faultyDraft{draft, f}, nil
}

type faultyDraft struct {
	storage.Draft
	store *faulty
}

func (d *faultyDraft) Append(ctx context.Context, p *storage.LogPiece) error {
	return d.store.write(func() error { return d.Draft.Append(ctx, p) })
}

func (d *faultyDraft) Create(ctx context.Context, c *storage.Commit) error {
	return d.store.write(func() error { return d.Draft.Create(ctx, c) })
}

func (f *faulty) DeleteSession(ctx context.Context, tenant, id string) error {
	return f.write(func() error { return f.Store.DeleteSession(ctx, tenant, id) })
}

func (f *faulty) Session(ctx context.Context, tenant, id string) (row *storagev1.Session, err error) {
	err = f.read(func() (err error) {
		row, err = f.Store.Session(ctx, tenant, id)
		return err
	})
	return row, err
}

func (f *faulty) Messages(
	ctx context.Context, ref storage.Ref, start, end uint32, maxBytes int,
) (list []*compactordv1.LoggedMessage, err error) {
	err = f.read(func() (err error) {
		if maxBytes > 0 {
			maxBytes = min(maxBytes, f.short(maxBytes))
		}
		list, err = f.Store.Messages(ctx, ref, start, end, maxBytes)
		return err
	})
	return list, err
}

func (f *faulty) Edits(ctx context.Context, ref storage.Ref, start, end uint32) (list []storage.IndexedEdits, err error) {
	err = f.read(func() (err error) {
		list, err = f.Store.Edits(ctx, ref, start, end)
		return err
	})
	return list, err
}

func (f *faulty) Compactions(
	ctx context.Context, ref storage.Ref, before uint32, limit int,
) (list []*storagev1.StoredRecord, err error) {
	err = f.read(func() (err error) {
		list, err = f.Store.Compactions(ctx, ref, before, limit)
		return err
	})
	return list, err
}

func (f *faulty) RecordAtOrBefore(
	ctx context.Context, ref storage.Ref, sequence uint32,
) (found *storagev1.StoredRecord, err error) {
	err = f.read(func() (err error) {
		found, err = f.Store.RecordAtOrBefore(ctx, ref, sequence)
		return err
	})
	return found, err
}

func (f *faulty) Sessions(
	ctx context.Context, q storage.SessionQuery,
) (list []*storagev1.Session, next string, err error) {
	err = f.read(func() (err error) {
		list, next, err = f.Store.Sessions(ctx, q)
		return err
	})
	return list, next, err
}

func (f *faulty) Records(
	ctx context.Context, ref storage.Ref, start, end uint32, limit int,
) (list []*storagev1.StoredRecord, err error) {
	err = f.read(func() (err error) {
		list, err = f.Store.Records(ctx, ref, start, end, limit)
		return err
	})
	return list, err
}

func (f *faulty) Request(ctx context.Context, ref storage.Ref, id string) (r *storagev1.StoredRequest, err error) {
	err = f.read(func() (err error) {
		r, err = f.Store.Request(ctx, ref, id)
		return err
	})
	return r, err
}

// Concurrent clients append, read, compact and revert over a failing store, and repeat what failed with its request_id.
// Each append is in the log exactly once and in order, nothing panics, and each error says that the store failed.
func TestConcurrentClientsOverAFailingStore(t *testing.T) {
	t.Parallel()
	const clients = 4
	rounds := 60
	if testing.Short() {
		rounds = 15
		t.Log("15 of 60 rounds: each syncs several times")
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	store := &faulty{
		Store:  openStore(t, filepath.Join(t.TempDir(), "store.db")),
		random: rand.New(rand.NewPCG(seed, 1)),
	}
	d := start(t, withStore(store), store.log.option())
	store.every.Store(8)
	var wg sync.WaitGroup
	failures := make([]error, clients)
	for n := range clients {
		wg.Go(func() {
			c := &insistent{d: d, id: fmt.Sprint(n), random: rand.New(rand.NewPCG(seed, uint64(n+2)))}
			failures[n] = c.run(rounds)
		})
	}
	wg.Wait()
	for _, err := range failures {
		require.NoError(t, err)
	}
	store.every.Store(0)
	for n := range clients {
		var got []string
		for _, m := range d.messages(fmt.Sprint(n)) {
			got = append(got, m.GetMessage().GetParts()[0].GetText().GetText())
		}
		var want []string
		for round := range rounds {
			want = append(want, text(n, round))
		}
		require.True(t, slices.Equal(want, got), "session %d: %d of %d messages", n, len(got), len(want))
	}
	require.Positive(t, store.faults.Load())
	require.Empty(t, store.log.lines(t, "panicked"))
	require.NotContains(t, store.log.all(), "this is a bug")
}

func text(client, round int) string { return fmt.Sprintf("%d of %d", round, client) }

// insistent is a client that repeats what failed.
type insistent struct {
	d      *daemon
	id     string
	random *rand.Rand
}

func (c *insistent) run(rounds int) error {
	ctx := c.d.t.Context()
	err := c.until(func() error {
		_, err := c.d.sessions.CreateSession(ctx, &compactordv1.CreateSessionRequest{
			SessionId: c.id, RequestId: "create", Policy: small(1000),
		})
		return err
	})
	for round := 0; err == nil && round < rounds; round++ {
		if err = c.append(ctx, round); err == nil {
			err = c.other(ctx)
		}
	}
	return err
}

func (c *insistent) append(ctx context.Context, round int) error {
	var n int
	if _, err := fmt.Sscan(c.id, &n); err != nil {
		return err
	}
	return c.until(func() error {
		_, err := c.d.sessions.AppendMessages(ctx, &compactordv1.AppendMessagesRequest{
			SessionId: c.id, RequestId: fmt.Sprint(round), Messages: []*compactordv1.Message{user(text(n, round))},
		})
		return err
	})
}

// other makes a call whose success does not matter, only its error.
func (c *insistent) other(ctx context.Context) error {
	var err error
	switch c.random.IntN(5) {
	case 0:
		_, err = c.d.sessions.ListMessages(ctx, &compactordv1.ListMessagesRequest{SessionId: c.id})
	case 1:
		_, err = c.d.compactions.GetLLMView(ctx, &compactordv1.GetLLMViewRequest{
			Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: c.id},
		})
	case 2:
		_, err = c.d.sessions.CreateCheckpoint(ctx, &compactordv1.CreateCheckpointRequest{SessionId: c.id})
	case 3:
		_, err = c.d.compact(compactRequest(c.id, nil))
	default:
	}
	return explained(err)
}

// until repeats a call until it succeeds. An error that a failing store does not explain ends it.
func (c *insistent) until(call func() error) error {
	for {
		err := call()
		if err == nil {
			return nil
		}
		if err := explained(err); err != nil {
			return err
		}
	}
}

// explained returns the errors that a failing store does not explain.
func explained(err error) error {
	switch statusCode(err) {
	case codes.OK, codes.Unavailable, codes.ResourceExhausted, codes.FailedPrecondition, codes.Aborted:
		return nil
	default:
		return err
	}
}
