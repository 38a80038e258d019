package torture_test

import (
	"context"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// attack is what clients do to a daemon while a bystander works.
type attack struct {
	name string
	// clients is how many strike at a time, each on a connection of its own.
	clients int
	// prepare creates what the clients need, before anything is measured. May be nil.
	prepare func(t *testing.T, d *daemon, r *rand.Rand)
	// strike is done by each client again and again. It returns when the daemon has answered; RESOURCE_EXHAUSTED is an
	// answer.
	strike func(ctx context.Context, c *client) error
}

// client is one of the attackers.
type client struct {
	sessions    compactordv1.SessionServiceClient
	compactions compactordv1.CompactionServiceClient
	// number is from 0; round counts the strikes of this client, from 0.
	number, round int
	random        *rand.Rand
}

// effort is how long a run is: by time, or in a plain run by number.
type effort struct {
	// span is how long the bystander is measured beside an attack, in phases with quiet ones between them, so that what
	// else the machine does meets both alike.
	span    time.Duration
	phases  int
	appends int
}

func effortOf(t *testing.T) effort {
	t.Helper()
	text := os.Getenv("COMPACTORD_TORTURE")
	if text == "" {
		return effort{phases: 1, appends: 3}
	}
	span, err := time.ParseDuration(text)
	require.NoError(t, err, "COMPACTORD_TORTURE")
	return effort{span: span, phases: 4}
}

func seedOf(t *testing.T) uint64 {
	t.Helper()
	text := os.Getenv("COMPACTORD_TORTURE_SEED")
	if text == "" {
		return rand.Uint64N(1 << 32)
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	require.NoError(t, err, "COMPACTORD_TORTURE_SEED")
	return seed
}

func TestTorture(t *testing.T) {
	much, seed := effortOf(t), seedOf(t)
	t.Logf("seed %d", seed)
	for _, a := range attacks(much.span > 0) {
		t.Run(a.name, func(t *testing.T) { a.run(t, much, seed) })
	}
}

// run attacks a new daemon, and prints what the bystander felt.
func (a *attack) run(t *testing.T, much effort, seed uint64) {
	t.Helper()
	d := serve(t)
	if a.prepare != nil {
		a.prepare(t, d, rand.New(rand.NewPCG(seed, 0)))
	}
	bystander := d.bystander(t)
	clients := a.connect(t, d, seed)
	quiet := bystander.watch(t, much)
	var beside []time.Duration
	var struck tally
	for range much.phases {
		end := a.begin(t, clients, much, &struck)
		beside = append(beside, bystander.watch(t, much)...)
		end()
		quiet = append(quiet, bystander.watch(t, much)...)
	}
	t.Logf("%-28s p50 %8s quiet %8s ratio %5.1f | p95 %8s quiet %8s ratio %5.1f | %d appends, %d strikes, %d refused | peak %d MiB",
		a.name, at(beside, 50), at(quiet, 50), ratio(beside, quiet, 50), at(beside, 95), at(quiet, 95), ratio(beside, quiet, 95),
		len(beside), struck.answered.Load(), struck.refused.Load(), d.peakMiB())
}

// connect returns the clients of the attack.
func (a *attack) connect(t *testing.T, d *daemon, seed uint64) (clients []*client) {
	t.Helper()
	for i := range a.clients {
		c := &client{number: i, random: rand.New(rand.NewPCG(seed, uint64(i)+1))}
		c.sessions, c.compactions = d.connect(t)
		clients = append(clients, c)
	}
	return clients
}

// tally counts strikes.
type tally struct{ answered, refused atomic.Int64 }

// begin starts the attack, and returns when each client is about to strike. end ends it; in a plain run each client has
// then struck once.
func (a *attack) begin(t *testing.T, clients []*client, much effort, struck *tally) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var all, began sync.WaitGroup
	for _, c := range clients {
		began.Add(1)
		all.Go(func() {
			began.Done()
			for goesOn := true; goesOn && ctx.Err() == nil; c.round++ {
				err := a.strike(ctx, c)
				switch {
				case ctx.Err() != nil:
				case status.Code(err) == codes.ResourceExhausted:
					struck.refused.Add(1)
				case err != nil:
					t.Errorf("client %d, round %d: %v", c.number, c.round, err)
					return
				default:
					struck.answered.Add(1)
				}
				goesOn = much.span > 0
			}
		})
	}
	began.Wait()
	return func() {
		if much.span > 0 {
			cancel()
		}
		all.Wait()
		cancel()
	}
}

// at returns a percentile, rounded for people.
func at(took []time.Duration, percent int) time.Duration {
	return percentile(took, percent).Round(10 * time.Microsecond)
}

func ratio(beside, quiet []time.Duration, percent int) float64 {
	return float64(percentile(beside, percent)) / float64(percentile(quiet, percent))
}

func percentile(took []time.Duration, percent int) time.Duration {
	sorted := slices.Sorted(slices.Values(took))
	return sorted[len(sorted)*percent/100]
}
