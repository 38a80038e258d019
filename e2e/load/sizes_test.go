package load

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	boltstore "github.com/compactord/compactord/storage/bolt"
)

// BenchmarkCompact is a compaction of about 200,000 tokens by the embedded summarizer. Target: 50 ms.
func BenchmarkCompact(b *testing.B) {
	d := start(b)
	messages := conversation(viewBytes)
	b.Run("tokens=200000", func(b *testing.B) {
		var took samples
		for i := 0; b.Loop(); i++ {
			b.StopTimer()
			id := fmt.Sprintf("s%d-%d", b.N, i)
			d.create(id, nil, messages...)
			b.StartTimer()
			took.time(func() { d.compact(id, keeping(10)) })
		}
		reportLimit(b, took, 50*time.Millisecond)
	})
}

// reportLimit reports times beside a limit, which is no baseline.
func reportLimit(b *testing.B, took samples, limit time.Duration) {
	b.Helper()
	b.ReportMetric(float64(took.percentile(50).Nanoseconds()), "p50-ns")
	b.ReportMetric(float64(took.percentile(99).Nanoseconds()), "p99-ns")
	b.ReportMetric(float64(limit.Nanoseconds()), "limit-ns")
}

// BenchmarkIdle is what sessions that nobody uses take in memory, and what an append costs beside them. Target: 1 kB each,
// and no slower than without them.
func BenchmarkIdle(b *testing.B) {
	const sessions = 100_000
	alone, beside100k := start(b), start(b)
	// Clients that create at once share the disk's syncs.
	var clients sync.WaitGroup
	for client := range 64 {
		clients.Go(func() {
			for i := client; i < sessions; i += 64 {
				beside100k.createEmpty(fmt.Sprint(i))
			}
		})
	}
	clients.Wait()
	for _, d := range []*daemon{alone, beside100k} {
		d.create("s", nil, user("first"))
	}
	b.Run("sessions=100000/base=none_idle", func(b *testing.B) {
		beside(b, 1.1, func() { alone.append("s", user("more")) }, func() { beside100k.append("s", user("more")) })
		live := func(d *daemon) float64 {
			// What the sessions left behind as garbage is not held.
			d.collect()
			return d.gauges("go_memstats_heap_inuse_bytes")[0]
		}
		b.ReportMetric((live(beside100k)-live(alone))/sessions, "B/session")
	})
}

// collect calls until the daemon's garbage collector has run twice.
func (d *daemon) collect() {
	cycles := func() float64 { return d.gauges("go_gc_duration_seconds_count")[0] }
	for until := cycles() + 2; cycles() < until; {
		d.view("s", neutral)
	}
}

// BenchmarkStoreSize is what a store needs after its compaction, beside the texts that were appended: texts of one size, and
// of all sizes from 50 bytes to 20 kB, as conversations have. They are so many that the reserve of the store is a small part
// of it. Target: 1.3 times.
func BenchmarkStoreSize(b *testing.B) {
	const total = 50_000_000
	mixed := func(i int) int { return int(50 * math.Pow(400, math.Mod(float64(i)*math.Phi, 1))) }
	for name, size := range map[string]func(i int) int{
		"message=100B": func(int) int { return 100 }, "message=2kB": func(int) int { return 2000 }, "message=mixed": mixed,
	} {
		b.Run(name, func(b *testing.B) {
			d := start(b)
			appended := 0
			var messages []*compactordv1.Message
			for i := 0; appended < total; i++ {
				messages = append(messages, user(prose(size(i))))
				appended += size(i)
			}
			d.create("s", nil, messages...)
			d.stop()
			for b.Loop() {
				b.ReportMetric(float64(compacted(b, d.store))/float64(appended), "x-base")
			}
			b.ReportMetric(1.3, "x-target")
		})
	}
}

// compacted returns the bytes of a store after its compaction.
func compacted(b *testing.B, path string) int64 {
	b.Helper()
	s, err := boltstore.Open(path, boltstore.Options{})
	require.NoError(b, err)
	to := filepath.Join(b.TempDir(), "compacted.db")
	copied, err := s.Copy(b.Context(), to, nil)
	require.NoError(b, err)
	require.NoError(b, s.Close())
	return copied.Bytes
}

// BenchmarkStart is the start of a daemon whose store has a GB, or as many as COMPACTORD_LOAD_GB says, up to its first
// answer: after it was stopped, after it was killed while clients appended, and after that with 150 MB that were freed, so that
// commits wrote no list of the free pages. Target: 200 ms at 10 GB.
func BenchmarkStart(b *testing.B) {
	gigabytes := 1
	if set := os.Getenv("COMPACTORD_LOAD_GB"); set != "" {
		var err error
		gigabytes, err = strconv.Atoi(set)
		require.NoError(b, err)
	}
	d := start(b)
	d.create("s", nil, user("first"))
	d.fill(gigabytes << 30)
	d.stop()
	for _, after := range []struct {
		name       string
		begin, end func()
	}{
		{"", func() {}, func() { d.stop() }},
		{"/killed", func() {}, func() { d.killInAppends() }},
		{"/freed", func() { d.deleteFilled(30) }, func() { d.killInAppends() }},
	} {
		b.Run(fmt.Sprintf("GB=%d%s", gigabytes, after.name), func(b *testing.B) {
			end := after.end
			d = serve(b, d.store)
			after.begin()
			end()
			var took samples
			for b.Loop() {
				took.time(func() {
					d = serve(b, d.store)
					d.view("s", neutral)
				})
				end()
			}
			reportLimit(b, took, 200*time.Millisecond)
		})
	}
}

// killInAppends kills the daemon while clients append to some of the sessions of fill.
func (d *daemon) killInAppends() {
	const clients, acknowledged = 4, 40
	answers := make(chan struct{}, acknowledged)
	var all sync.WaitGroup
	for n := range clients {
		all.Go(func() {
			for {
				_, err := d.sessions.AppendMessages(d.b.Context(), &compactordv1.AppendMessagesRequest{
					SessionId: fmt.Sprint("filled", n), Messages: []*compactordv1.Message{user(prose(2000))},
				})
				if err != nil {
					return
				}
				select {
				case answers <- struct{}{}:
				default:
				}
			}
		})
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		all.Wait()
	}()
	for range acknowledged {
		select {
		case <-answers:
		case <-gone:
			d.b.Fatal("the appends failed before the daemon was killed")
		}
	}
	_ = d.process.Process.Kill()
	<-gone
	d.stop()
}

// deleteFilled deletes some of the sessions of fill, unless they are gone.
func (d *daemon) deleteFilled(sessions int) {
	d.b.Helper()
	for n := range sessions {
		_, err := d.sessions.DeleteSession(d.b.Context(), &compactordv1.DeleteSessionRequest{SessionId: fmt.Sprint("filled", 100+n)})
		if status.Code(err) != codes.NotFound {
			require.NoError(d.b, err)
		}
	}
}

// fill adds sessions with about size bytes in all.
func (d *daemon) fill(size int) {
	const each, batch = 100_000, 50
	messages := make([]*compactordv1.Message, batch)
	for i := range messages {
		// Text that no compression makes small.
		noise := make([]byte, each/2)
		_, _ = rand.Read(noise)
		messages[i] = user(hex.EncodeToString(noise))
	}
	for i := 0; i*each*batch < size; i++ {
		d.create(fmt.Sprint("filled", i), nil, messages...)
	}
}
