package service_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/summarizers"
)

// restless is a session that many goroutines change at once, and many watch.
type restless struct {
	*daemon
	id string
	// wrong reports an error from any goroutine.
	wrong func(format string, args ...any)
}

// fickle returns a summarizer that in turn fails, waits until it is cancelled, or works.
func fickle() *scripted {
	var mu sync.Mutex
	turn := 0
	return &scripted{name: "fickle", do: func(
		ctx context.Context, req *summarizers.Request, p summarizers.Progress,
	) (*summarizers.Summary, error) {
		mu.Lock()
		turn++
		now := turn % 4
		mu.Unlock()
		switch now {
		case 0:
			p.Text("half a sum")
			return nil, errors.New("out of order")
		case 1:
			p.Text("never more than this")
			<-ctx.Done()
			return nil, context.Cause(ctx)
		default:
			return faithful(ctx, req, p)
		}
	}}
}

// expected says whether random changes may meet this error.
func expected(err error) bool {
	switch statusCode(err) {
	case codes.OK, codes.Canceled, codes.Unavailable, codes.Aborted, codes.FailedPrecondition, codes.NotFound:
		return true
	default:
		return false
	}
}

// write makes random changes of all kinds.
func (r *restless) write(ctx context.Context, random *rand.Rand, steps int) {
	for step := range steps {
		var err error
		switch n := random.IntN(100); {
		case n < 60:
			_, err = r.sessions.AppendMessages(ctx, &compactordv1.AppendMessagesRequest{
				SessionId: r.id, Messages: working(1+random.IntN(3), random.IntN(3000))[1:],
			})
		case n < 70:
			_, err = r.sessions.UpdateSession(ctx, &compactordv1.UpdateSessionRequest{
				SessionId: r.id, UpdateMask: mask("policy"), Policy: by("fickle", noFallback, small(uint32(500+step))),
			})
		case n < 75:
			_, err = r.sessions.UpdateSession(ctx, &compactordv1.UpdateSessionRequest{
				SessionId: r.id, UpdateMask: mask("title"), Title: "no record is written of this",
			})
		case n < 82:
			_, err = r.compactions.Prune(ctx, &compactordv1.PruneRequest{
				Target: &compactordv1.PruneRequest_SessionId{SessionId: r.id}, Policy: hideAllBut(1),
			})
		case n < 85:
			_, err = r.sessions.RevertToCheckpoint(ctx, &compactordv1.RevertToCheckpointRequest{
				SessionId: r.id, Target: &compactordv1.RevertToCheckpointRequest_Point{Point: uint32(random.IntN(10))},
			})
		default:
			err = r.compactAtRandom(ctx, random)
		}
		if !expected(err) {
			r.wrong("step %d: %v", step, err)
		}
	}
}

// eventsOfWaiting is the number of events of a compaction whose summarizer waits: started, two of progress, a delta.
const eventsOfWaiting = 4

// compactAtRandom runs a compaction to its end, or leaves it, detached or not; or it cancels what runs.
func (r *restless) compactAtRandom(ctx context.Context, random *rand.Rand) error {
	if random.IntN(4) == 0 {
		_, err := r.compactions.CancelCompaction(ctx, &compactordv1.CancelCompactionRequest{SessionId: r.id})
		return err
	}
	req := compactRequest(r.id, nil)
	req.Detach, req.Preempt = random.IntN(3) > 0, random.IntN(3) == 0
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := r.compactions.Compact(ctx, req)
	if err != nil {
		return err
	}
	for reads := 1 + random.IntN(eventsOfWaiting); reads > 0 && err == nil; reads-- {
		_, err = stream.Recv()
	}
	return nil
}

// lastWord is the text of the last message that watchers read.
const lastWord = "the last word"

// follow watches from a sequence to the last word, and returns what it got of the log. It ends the watch after every
// `each` responses beside the first (0: never) and goes on where it was.
func (r *restless) follow(ctx context.Context, from uint32, each int, events bool) []*compactordv1.WatchSessionResponse {
	var seen []*compactordv1.WatchSessionResponse
	next, uid, over := from, "", false
	for !over {
		err := r.leg(ctx, &compactordv1.WatchSessionRequest{
			SessionId: r.id, FromSequence: proto.Uint32(next), Uid: uid, Events: events,
		}, each, func(answer *compactordv1.WatchSessionResponse) bool {
			if started := answer.GetStarted(); started != nil {
				uid = started.GetUid()
			}
			if sequence := sequenceOf(answer); sequence >= 0 {
				seen = append(seen, answer)
				next = uint32(sequence) + 1
			}
			parts := answer.GetMessage().GetMessage().GetParts()
			over = len(parts) > 0 && parts[0].GetText().GetText() == lastWord
			return over
		})
		if err != nil {
			r.wrong("watch from %d: %v", next, err)
			return seen
		}
	}
	return seen
}

// leg is one watch. It ends after `each` responses beside the first (0: never), or when take says that it is over.
func (r *restless) leg(
	ctx context.Context, req *compactordv1.WatchSessionRequest, answers int,
	take func(*compactordv1.WatchSessionResponse) bool,
) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := r.sessions.WatchSession(ctx, req)
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		answer, err := stream.Recv()
		if err != nil {
			return err
		}
		if take(answer) || n > 0 && n == answers {
			return nil
		}
	}
}

// Watchers come late, go on where they were, or vanish. Meanwhile many goroutines change the session, and compactions
// run, fail, are cancelled, and outlive their clients. Each watcher gets every message and record once and in order.
func TestEveryWatcherSeesAllOfARestlessLog(t *testing.T) {
	t.Parallel()
	seeds := uint64(3)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			d := start(t, withSummarizer(fickle()), func(o *service.ServerOptions) { o.WatchQueue = 1 << 16 })
			d.create("s", by("fickle", noFallback, small(1000)))
			d.append("s", working(5, 2000)...)
			r := &restless{daemon: d, id: "s", wrong: t.Errorf}
			const watchers, writers = 8, 3
			type result struct {
				from uint32
				seen []*compactordv1.WatchSessionResponse
			}
			results := make([]result, watchers)
			var watching, writing sync.WaitGroup
			watchFrom := func(i int, from uint32) {
				watching.Go(func() {
					results[i] = result{from, r.follow(t.Context(), from, []int{0, 3, 10, 50}[i%4], i%2 == 0)}
				})
			}
			for i := range watchers / 2 {
				watchFrom(i, uint32(i))
			}
			for i := range writers {
				random := rand.New(rand.NewPCG(seed, uint64(i)))
				writing.Go(func() { r.write(t.Context(), random, 40) })
			}
			for i := range watchers / 2 {
				// A late watcher begins while the log is written.
				row, err := d.store.Session(t.Context(), "", "s")
				require.NoError(t, err)
				watchFrom(watchers/2+i, row.GetHead().GetNextSequence())
				gone := d.watch(&compactordv1.WatchSessionRequest{SessionId: "s", FromSequence: proto.Uint32(0), Events: true})
				gone.end()
			}
			writing.Wait()
			d.compactNothing("s")
			d.append("s", working(10, 2000)...)
			_, err := d.compact(compactRequest("s", by("extractive", noFallback, small(1000))))
			require.NoError(t, err)
			d.append("s", user(lastWord))
			watching.Wait()
			log := d.logged("s")
			for i, result := range results {
				require.Len(t, result.seen, len(log)-int(result.from), "watcher %d", i)
				requireLogged(t, log, int(result.from), result.seen)
			}
			completed, attempts := d.ends("s")
			t.Logf("%d of the log, %d compactions completed, %d failed or were cancelled", len(log), completed, attempts)
			require.Positive(t, completed)
			require.Positive(t, attempts)
		})
	}
}
